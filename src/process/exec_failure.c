#include "process/exec_failure.h"

#include <errno.h>
#include <unistd.h>

_Noreturn void exec_failure_report(int pipe)
{
    enum { EXIT_NOT_EXECUTED = 127 }; /* as shells do */
    int reason = errno;
    /* If the reader is gone, the error interests no process any more. */
    ssize_t ignored = write(pipe, &reason, sizeof reason);
    (void)ignored;
    _exit(EXIT_NOT_EXECUTED);
}

int exec_failure_wait(int pipe)
{
    int reason;
    ssize_t got;
    do {
        got = read(pipe, &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof reason ? reason : 0;
}
