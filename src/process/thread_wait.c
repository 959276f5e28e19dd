#include "process/thread_wait.h"

#include "process/processes.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

/* Waits until any thread has a status, and leaves it to be waited for. */
static bool wait_for_any(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL) == 0 || errno == EINTR;
}

bool thread_wait(pid_t tid, int *status)
{
    /* A short pause, because the status may be that of another thread, which its own waiter must
     * take. */
    const struct timespec pause = {.tv_nsec = 50 * 1000};
    while (wait_for_any()) {
        pid_t found = waitpid(tid, status, __WALL | WNOHANG);
        if (found == 0 && thread_state(tid, tid) == 'Z') {
            found = waitpid(tid, status, __WALL | WNOHANG);
            return found == tid;
        }
        if (found != 0)
            return found == tid;
        nanosleep(&pause, NULL);
    }
    return false;
}
