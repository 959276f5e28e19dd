/* How the parent of a forked child hears that its exec failed: a pipe, close-on-exec at both ends,
 * that closes by itself when exec succeeds, and else brings the errno.
 *
 * Used by launch.c and by perf/perf_process.c.
 */
#ifndef MAGIC_TRACE_PROCESS_EXEC_FAILURE_H
#define MAGIC_TRACE_PROCESS_EXEC_FAILURE_H

/* In the child, behind an exec that came back: tells errno and ends. Async-signal-safe. */
_Noreturn void exec_failure_report(int pipe);

/* In the parent, which has closed its copy of the end for writing. 0: exec succeeded, or the child
 * has ended before. */
int exec_failure_wait(int pipe);

#endif
