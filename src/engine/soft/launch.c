#include "engine/soft/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void become(char *const *arguments, char *const *environment,
                             const struct signals *signals, bool fixed_addresses, int failures)
{
    signals_restore_in_child(signals);
    if (fixed_addresses) {
        int persona = personality(0xffffffff); /* asks, changes nothing */
        personality((unsigned)persona | ADDR_NO_RANDOMIZE);
    }
    execve(arguments[0], arguments, environment);
    int reason = errno;
    /* When nobody reads this, nobody is left to be told. */
    ssize_t ignored = write(failures, &reason, sizeof reason);
    (void)ignored;
    _exit(127);
}

/* The pipe closes by itself when exec succeeds; else it brings the errno. 0 for success. */
static int exec_failure(int failures)
{
    int reason;
    ssize_t got;
    do {
        got = read(failures, &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof reason ? reason : 0;
}

static bool start(struct child *child, char *const *arguments, char *const *environment,
                  const struct signals *signals, bool fixed_addresses, struct error *error)
{
    int failures[2];
    if (pipe2(failures, O_CLOEXEC) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot start %s (pipe)", arguments[0]);
    child->pid = fork();
    if (child->pid == 0)
        become(arguments, environment, signals, fixed_addresses, failures[1]);
    int fork_failure = errno;
    close(failures[1]);
    int failure = child->pid < 0 ? fork_failure : exec_failure(failures[0]);
    close(failures[0]);
    if (!failure)
        return true;
    if (child->pid > 0)
        waitpid(child->pid, NULL, 0);
    return error_set_errno(error, ERROR_IO, failure, "cannot start %s%s", arguments[0],
                           failure == E2BIG ? ": the command line and environment are too long"
                                            : "");
}

bool launch(struct child *child, char *const *arguments, char *const *environment,
            const struct signals *signals, bool fixed_addresses, struct error *error)
{
    if (!start(child, arguments, environment, signals, fixed_addresses, error))
        return false;
    /* The child cannot be reaped by anybody but us, so its number still means it. */
    child->descriptor = (int)syscall(SYS_pidfd_open, child->pid, 0);
    if (child->descriptor >= 0)
        return true;
    int reason = errno;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    return error_set_errno(error, ERROR_UNSUPPORTED, reason,
                           "cannot watch the program (pidfd_open; needs Linux 5.3)");
}
