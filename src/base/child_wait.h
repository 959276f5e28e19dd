/* Waits for one child.
 *
 * Called wherever a child has to end, or a traced thread to stop, before its parent goes on.
 */
#ifndef MAGIC_TRACE_BASE_CHILD_WAIT_H
#define MAGIC_TRACE_BASE_CHILD_WAIT_H

#include <sys/types.h>

/* Waits until the child, or the thread that is traced, has ended or stopped, however often signal
 * handlers interrupt that. Returns its status, as from waitpid; -1 with errno: there is no such
 * child. -1 is none of WIFEXITED, WIFSIGNALED and WIFSTOPPED. */
int child_wait(pid_t pid);

#endif
