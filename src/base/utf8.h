/* Turns bytes that should be UTF-8 into valid UTF-8.
 *
 * Names of functions and files are bytes; formats like JSON and protocol buffers hold only UTF-8
 * (RFC 3629). Called by the writers of such formats.
 */
#ifndef MAGIC_TRACE_BASE_UTF8_H
#define MAGIC_TRACE_BASE_UTF8_H

/* A copy in which U+FFFD replaces every byte that is not part of a valid character. The caller
 * frees. */
char *utf8_repaired(const char *bytes);

#endif
