#include "engine/exec_stop.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

bool exec_stop_prepare(pid_t pid, struct error *error)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)(intptr_t)PTRACE_O_TRACEEXEC) == 0)
        return true;
    return error_set_errno(error, ERROR_UNSUPPORTED, errno,
                           "cannot stop the program at its beginning by ptrace. A sandbox or "
                           "/proc/sys/kernel/yama/ptrace_scope (3) may forbid it: allow it with "
                           "`sudo sysctl kernel.yama.ptrace_scope=1`");
}

/* Waits for the next stop. False: there will be none. */
static bool wait_for_stop(pid_t pid, int *status)
{
    siginfo_t info;
    int result;
    while ((result = waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT)) != 0 &&
           errno == EINTR)
        ;
    bool stopped = result == 0 && (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED);
    return stopped && waitpid(pid, status, 0) == pid && WIFSTOPPED(*status);
}

bool exec_stop_wait(pid_t pid)
{
    int status;
    while (wait_for_stop(pid, &status)) {
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_EXEC)
            return true;
        /* Somebody stopped it (SIGSTOP): it is to stay so until it is let go on. */
        if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
            ptrace(PTRACE_LISTEN, pid, NULL, NULL);
        else
            ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)(event ? 0 : signal));
    }
    return false;
}

void exec_stop_release(pid_t pid)
{
    ptrace(PTRACE_DETACH, pid, NULL, NULL);
}
