/* Ctrl-C while a recording is decoded: the decode stops at once, the recording stays and is named.
 *
 * Without this the folder with the recording, often many megabytes of a program's secrets, would
 * stay in the temporary folder unnoticed.
 */
#ifndef MAGIC_TRACE_CLI_INTERRUPTED_DECODE_H
#define MAGIC_TRACE_CLI_INTERRUPTED_DECODE_H

/* From here on SIGINT, SIGTERM and SIGHUP print where the recording lies, and then end the process
 * as they would have. Signals that were ignored stay ignored. */
void interrupted_decode_begin(const char *directory);

/* Back to the default. */
void interrupted_decode_end(void);

#endif
