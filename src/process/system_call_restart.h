/* Restarts a system call that PTRACE_INTERRUPT has interrupted, so that the program does not see
 * it.
 *
 * The kernel restarts most of them, but some (epoll_wait, semop, sigtimedwait, receiving with a
 * timeout) return EINTR whatever woke them: signal(7), "Interruption of system calls". A wait with
 * a timeout starts again with its full timeout, and so may last longer.
 */
#ifndef MAGIC_TRACE_PROCESS_SYSTEM_CALL_RESTART_H
#define MAGIC_TRACE_PROCESS_SYSTEM_CALL_RESTART_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

/* The thread has stopped for PTRACE_INTERRUPT. `all`: also those that the kernel would restart when
 * the thread continues, so that its RIP is at the instruction that it executes next. Does nothing
 * if a signal is about to be delivered, because the program must see the interruption. */
void restart_system_call(pid_t tid, bool all);

/* The same for registers that were read from such a thread: whether a call is to be restarted, of which they are those at
 * its SYSCALL instruction now. */
bool restart_in_registers(struct user_regs_struct *registers, bool all);

/* Whether the stopped thread has a signal that it neither blocks nor ignores; with `shared_too` one of its process counts, which
 * another thread may receive. */
bool has_deliverable_signal(pid_t tid, bool shared_too);

/* Whether the thread's process ignores it, by default or by its disposition; false when it cannot be read. */
bool signal_is_ignored(pid_t tid, int signal);

#endif
