/* A system call that PTRACE_INTERRUPT has cut short, begun again as if nothing had been.
 *
 * The kernel restarts most of them by itself, but some (epoll_wait, semop, sigtimedwait, receiving
 * with a timeout) return EINTR whatever it was that woke them: signal(7), "Interruption of system
 * calls". A wait with a timeout begins anew, and so may last longer than it should.
 */
#ifndef MAGIC_TRACE_PROCESS_SYSTEM_CALL_RESTART_H
#define MAGIC_TRACE_PROCESS_SYSTEM_CALL_RESTART_H

#include <stdbool.h>
#include <sys/types.h>

/* The thread has stopped for PTRACE_INTERRUPT. `all`: also those that the kernel would restart when
 * the thread goes on, so that it stands at the instruction that is carried out next. Nothing is
 * done when a signal is about to be delivered, of which the program shall know. */
void restart_system_call(pid_t tid, bool all);

#endif
