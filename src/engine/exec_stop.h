/* Stops a program that is about to start before its first instruction, when the kernel has mapped
 * it: time to set breakpoints in it, which are addresses and not known before.
 *
 *     held program (soft/launch.h)
 *     exec_stop_prepare(pid)
 *     launch_go()
 *     if (exec_stop_wait(pid)) {
 *         breakpoints_next(), which follows the process
 *         exec_stop_release(pid);
 *     }
 *
 * By ptrace(2), PTRACE_EVENT_EXEC, from prepare to release; all three from the same thread, the
 * child's parent. If that dies in between, the program goes on. A library is mapped by the program
 * itself, later: for its code this is too early.
 *
 * Used by engines that start programs and watch them by breakpoints.
 */
#ifndef MAGIC_TRACE_ENGINE_EXEC_STOP_H
#define MAGIC_TRACE_ENGINE_EXEC_STOP_H

#include "base/error.h"

#include <sys/types.h>

/* The child has not called exec yet. */
bool exec_stop_prepare(pid_t pid, struct error *error);

/* Waits until it stands before its first instruction. False: it has ended; its status is still to
 * be waited for. */
bool exec_stop_wait(pid_t pid);

void exec_stop_release(pid_t pid);

#endif
