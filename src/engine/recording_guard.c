#include "engine/recording_guard.h"

#include "base/child_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define GUARD_NAME "mt-guard"

/* Whoever waits for the end of our output does not wait for this process. */
static void let_go_of_output(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int descriptor = 0; nowhere >= 0 && descriptor <= STDERR_FILENO; descriptor++)
        dup2(nowhere, descriptor);
}

/* False: the process at the other end has ended. */
static bool is_answered(int line)
{
    char byte;
    ssize_t got;
    do
        got = read(line, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

static _Noreturn void guard(const struct guard_duty *duty, int line)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, GUARD_NAME);
    let_go_of_output();
    if (duty->prepare(duty->context) && send(line, "", 1, MSG_NOSIGNAL) == 1 && !is_answered(line))
        duty->finish(duty->context);
    _exit(0);
}

static void await(struct recording_guard *guard)
{
    close(guard->line);
    child_wait(guard->pid);
    guard->pid = 0;
}

void recording_guard_begin(struct recording_guard *guarding, const struct guard_duty *duty)
{
    int lines[2];
    *guarding = (struct recording_guard){0};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, lines) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(lines[0]);
        guard(duty, lines[1]);
    }
    close(lines[1]);
    if (pid < 0) {
        close(lines[0]);
        return;
    }
    *guarding = (struct recording_guard){pid, lines[0]};
    if (!is_answered(lines[0]))
        await(guarding);
}

void recording_guard_dismiss(struct recording_guard *guard)
{
    if (!guard->pid)
        return;
    send(guard->line, "", 1, MSG_NOSIGNAL);
    await(guard);
}
