/* A descriptor of a process, to wait for its end by poll(2), together with other things.
 *
 * It is a pidfd (pidfd_open(2), Linux 5.3). Before, it is a socket, and a thread of ours that looks
 * into /proc a hundred times a second makes it readable.
 *
 * Used by all that watches processes: launch.c and the engines.
 */
#ifndef MAGIC_TRACE_PROCESS_PIDFD_H
#define MAGIC_TRACE_PROCESS_PIDFD_H

#include <signal.h>
#include <sys/types.h>

/* Close-on-exec, readable when the process has ended, whether or not it has been waited for. The
 * caller closes it. -1 and errno: ESRCH when there is no such process. */
int pidfd_of(pid_t pid);

/* As pidfd_of on a kernel without pidfds: for tests. */
int pidfd_by_thread(pid_t pid);

/* Sends a signal to the process of a descriptor. `info` says what the kernel would fill in, as in
 * pidfd_send_signal(2), or is NULL. Before Linux 5.3 the signal goes to whoever has the pid: `pid`
 * must be a child that has not been waited for. */
void pidfd_signal(int descriptor, pid_t pid, int number, siginfo_t *info);

#endif
