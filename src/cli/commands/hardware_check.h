/* `doctor -check-hardware`: whether recording works on this machine, found out by doing it.
 *
 * Nobody who works on magic-trace needs a processor with Intel PT, so who has one runs this once
 * and sends what it prints (docs/hardware-check.md). A program whose calls are known
 * (checked_program.h) is recorded in every way there is; what the trace shows is compared with what
 * the program did.
 */
#ifndef MAGIC_TRACE_CLI_COMMANDS_HARDWARE_CHECK_H
#define MAGIC_TRACE_CLI_COMMANDS_HARDWARE_CHECK_H

/* Prints a line per check on standard output: what, pass, fail or skip, and the figures. The exit
 * status: 0 when nothing failed. */
int hardware_check(const char *name);

#endif
