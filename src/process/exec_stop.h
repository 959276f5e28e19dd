/* Holds a program that we start before its first instruction: its exec has happened, nothing of it
 * has run.
 *
 * By ptrace, whose stop at exec has no signal that could be lost or left over (PTRACE_SEIZE,
 * PTRACE_O_TRACEEXEC). When magic-trace dies the kernel lets the program go on.
 */
#ifndef MAGIC_TRACE_PROCESS_EXEC_STOP_H
#define MAGIC_TRACE_PROCESS_EXEC_STOP_H

#include "process/launch.h"

/* Whether `path` could run under a tracer of our rights as it would without one. */
bool exec_stop_allowed(const char *path, struct error *error);

/* Lets a held program go as far as its exec. False when that failed: it has ended then, and nothing
 * is left to free. */
bool exec_stop_reach(struct held_program *held, struct error *error);

/* Lets it run. */
void exec_stop_release(const struct child *child);

/* Instead of that: it ends without having run. */
void exec_stop_give_up(const struct child *child);

#endif
