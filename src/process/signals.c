#include "process/signals.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* Signals that end a process by default and can be sent from outside, and those of job control.
 * Faults stay unblocked; SIGPIPE and SIGXCPU concern magic-trace itself. */
static void fill_held(sigset_t *held)
{
    static const int numbers[] = {SIGHUP,  SIGINT,    SIGQUIT, SIGTERM,   SIGUSR1,
                                  SIGUSR2, SIGALRM,   SIGPROF, SIGVTALRM, SIGIO,
                                  SIGPWR,  SIGSTKFLT, SIGTSTP, SIGCONT,   SIGCHLD};
    sigemptyset(held);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(held, numbers[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaddset(held, number);
}

bool signals_hold(struct signals *signals, struct error *error)
{
    sigset_t held;
    fill_held(&held);
    signals->descriptor = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals->descriptor < 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot watch for signals (signalfd)");
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &standard, &signals->inherited_child_action);
    sigprocmask(SIG_BLOCK, &held, &signals->inherited_mask);
    return true;
}

bool signals_next(const struct signals *signals, struct signalfd_siginfo *info)
{
    return read(signals->descriptor, info, sizeof *info) == (ssize_t)sizeof *info;
}

/* The value that comes with SIGUSR1. */
enum { COMMAND_ENDED = 0x656e64 };

void signals_send_command_ended(pid_t recorder)
{
    sigqueue(recorder, SIGUSR1, (union sigval){.sival_int = COMMAND_ENDED});
}

const char *signals_end_reason(const struct signalfd_siginfo *info)
{
    bool command_ended =
        info->ssi_signo == SIGUSR1 && info->ssi_code == SI_QUEUE && info->ssi_int == COMMAND_ENDED;
    return command_ended ? "The command has ended" : "Got signal";
}

void signals_restore_in_child(const struct signals *signals)
{
    sigaction(SIGCHLD, &signals->inherited_child_action, NULL);
    sigprocmask(SIG_SETMASK, &signals->inherited_mask, NULL);
}

void signals_release(struct signals *signals, bool forget_interrupts)
{
    sigset_t answered;
    sigemptyset(&answered);
    sigaddset(&answered, SIGCHLD);
    if (forget_interrupts)
        sigaddset(&answered, SIGINT);
    struct timespec at_once = {0};
    while (sigtimedwait(&answered, NULL, &at_once) > 0)
        ;
    signals_restore_in_child(signals);
    close(signals->descriptor);
}

void signals_stop_self(void)
{
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &stop, NULL); /* it takes effect here */
    sigprocmask(SIG_BLOCK, &stop, NULL);
}
