/* Reports a failed exec of a forked child to its parent: by a pipe, close-on-exec at both ends. A
 * successful exec closes it; otherwise it carries the errno.
 *
 * Used by launch.c and by perf/perf_process.c.
 */
#ifndef MAGIC_TRACE_PROCESS_EXEC_FAILURE_H
#define MAGIC_TRACE_PROCESS_EXEC_FAILURE_H

/* In the child, after an exec that failed: reports errno and exits. Async-signal-safe. */
_Noreturn void exec_failure_report(int pipe);

/* In the parent, which has closed its copy of the write end. 0: exec succeeded, or the child has
 * ended before. */
int exec_failure_wait(int pipe);

#endif
