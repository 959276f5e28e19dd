#include "process/launch.h"

#include "process/exec_failure.h"
#include "process/pidfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void become(const char *path, char *const *arguments, char *const *environment,
                             const struct signals *signals, bool fixed_addresses, int failures)
{
    signals_restore_in_child(signals);
    if (fixed_addresses) {
        int persona = personality(0xffffffff); /* asks, changes nothing */
        personality((unsigned)persona | ADDR_NO_RANDOMIZE);
    }
    execve(path, arguments, environment);
    exec_failure_report(failures);
}

/* Nothing of the program runs before a byte has come. Where Yama lets only ancestors trace, `tracer` gets leave; it fails
 * where there is no Yama. */
static _Noreturn void wait_and_become(const char *path, char *const *arguments,
                                      char *const *environment, const struct signals *signals,
                                      bool fixed_addresses, pid_t tracer, int go, int failures)
{
    char byte;
    if (tracer)
        prctl(PR_SET_PTRACER, (unsigned long)tracer, 0, 0, 0);
    if (read(go, &byte, 1) != 1)
        _exit(127);
    become(path, arguments, environment, signals, fixed_addresses, failures);
}

static bool watch(struct child *child, struct error *error)
{
    /* Only we can reap the child, so its pid stays valid. */
    child->descriptor = pidfd_of(child->pid);
    if (child->descriptor >= 0)
        return true;
    int reason = errno;
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
    return error_set_errno(error, ERROR_UNSUPPORTED, reason, "cannot watch the program");
}

static bool cannot_start(const char *name, int reason, struct error *error)
{
    return error_set_errno(error, ERROR_IO, reason, "cannot start %s%s", name,
                           reason == E2BIG ? ": the command line and environment are too long"
                                           : "");
}

static void close_pipe(const int *pipe)
{
    close(pipe[0]);
    close(pipe[1]);
}

bool launch_held(struct held_program *held, const char *path, char *const *arguments,
                 char *const *environment, const struct signals *signals, struct error *error)
{
    int go[2], failures[2];
    held->path = path;
    /* No pipe: writing to one whose reader was killed would kill us. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
        return cannot_start(held->path, errno, error);
    if (pipe2(failures, O_CLOEXEC) != 0) {
        cannot_start(held->path, errno, error);
        close_pipe(go);
        return false;
    }
    held->child.pid = fork();
    if (held->child.pid == 0) {
        close(go[1]); /* our copy would keep the child waiting when the parent dies */
        wait_and_become(path, arguments, environment, signals, held->fixed_addresses, held->tracer,
                        go[0], failures[1]);
    }
    int reason = errno;
    close(go[0]);
    close(failures[1]);
    held->go = go[1];
    held->failures = failures[0];
    bool ok =
        held->child.pid > 0 ? watch(&held->child, error) : cannot_start(held->path, reason, error);
    if (!ok) {
        close(held->go);
        close(held->failures);
    }
    return ok;
}

void launch_let_go(struct held_program *held)
{
    send(held->go, "", 1, MSG_NOSIGNAL); /* it may have been killed: ignore the error */
    close(held->go);
}

bool launch_outcome(struct held_program *held, struct error *error)
{
    int failure = exec_failure_wait(held->failures);
    close(held->failures);
    if (!failure)
        return true;
    close(held->child.descriptor);
    waitpid(held->child.pid, NULL, 0);
    return cannot_start(held->path, failure, error);
}

bool launch_go(struct held_program *held, struct error *error)
{
    launch_let_go(held);
    return launch_outcome(held, error);
}

void launch_give_up(struct held_program *held)
{
    close(held->go);
    close(held->failures);
    waitpid(held->child.pid, NULL, 0);
    close(held->child.descriptor);
}

bool launch(struct child *child, char *const *arguments, char *const *environment,
            const struct signals *signals, bool fixed_addresses, struct error *error)
{
    struct held_program held = {.fixed_addresses = fixed_addresses};
    if (!launch_held(&held, arguments[0], arguments, environment, signals, error) ||
        !launch_go(&held, error))
        return false;
    *child = held.child;
    return true;
}
