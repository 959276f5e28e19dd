/* Waits for one of the threads that this process traces.
 *
 * Used by stepper.c and tracee.c, from the thread that traces.
 */
#ifndef MAGIC_TRACE_PROCESS_THREAD_WAIT_H
#define MAGIC_TRACE_PROCESS_THREAD_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

/* Waits until the thread has stopped or ended, and takes its status, as from waitpid. False: there
 * is no such thread, or it has died and its status is not available yet: the kernel reports the end
 * of a process's first thread when all its other threads have been waited for (ptrace(2), "Death
 * under ptrace"), so waiting for that thread alone would hang. */
bool thread_wait(pid_t tid, int *status);

#endif
