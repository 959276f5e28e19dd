/* Holds the next child that a process forks before its first instruction.
 *
 * `holds_child PID` says "ready" when it waits for that, and the child's number when it holds it: its parent goes on by then. The
 * child goes on when our input ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Its child, which is a tracee, too, and stops by itself. 0: it has ended. */
static pid_t wait_for_fork(pid_t pid)
{
    int status;
    unsigned long child;
    while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
        if (status >> 16 == PTRACE_EVENT_FORK)
            return ptrace(PTRACE_GETEVENTMSG, pid, NULL, &child) == 0 ? (pid_t)child : 0;
        ptrace(PTRACE_CONT, pid, NULL, status >> 16 ? 0L : (long)WSTOPSIG(status));
    }
    return 0;
}

int main(int argc, char **argv)
{
    pid_t pid = argc > 1 ? (pid_t)atoi(argv[1]) : 0;
    int status;
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEFORK) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    pid_t child = wait_for_fork(pid);
    if (child == 0 || waitpid(child, &status, __WALL) != child)
        return 1;
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
    printf("%d\n", (int)child);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return ptrace(PTRACE_DETACH, child, NULL, NULL) != 0;
}
