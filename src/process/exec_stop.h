/* Stops a program that we start at its exec, before its first instruction.
 *
 * Uses ptrace, whose stop at exec needs no signal that could get lost or remain pending
 * (PTRACE_SEIZE, PTRACE_O_TRACEEXEC). If magic-trace dies, the kernel resumes the program.
 */
#ifndef MAGIC_TRACE_PROCESS_EXEC_STOP_H
#define MAGIC_TRACE_PROCESS_EXEC_STOP_H

#include "process/launch.h"

/* Whether `path` would run under a tracer with our privileges as it does without one. */
bool exec_stop_allowed(const char *path, struct error *error);

/* Resumes a held program up to its exec. False when exec failed: the program has ended then, and
 * nothing is left to free. */
bool exec_stop_reach(struct held_program *held, struct error *error);

/* Lets the dynamic loader run: from the exec to the executable's own first instruction, where the
 * libraries that it needs are mapped. Uses a debug register meanwhile; when all are in use the program
 * stays at its exec. A signal that is pending for us (blocked by signals_hold) stops the program
 * earlier. False: it has ended, and can be waited for. */
bool exec_stop_run_to_entry(const struct child *child);

/* Resumes it. */
void exec_stop_release(const struct child *child);

/* Ends it instead; it has not run. */
void exec_stop_give_up(const struct child *child);

#endif
