#include "process/program_signals.h"

#include "base/child_wait.h"
#include "base/monotonic.h"
#include "process/pidfd.h"
#include "process/processes.h"

#include <sys/wait.h>
#include <unistd.h>

/* timeout(1) and others send a signal twice, to the process and to its group. Users do not press
 * keys this fast. */
enum { SAME_INTERRUPT_NS = 100 * 1000 * 1000 };

/* What the terminal sends goes to its whole foreground process group, including the program. Other
 * signals of the kernel (an alarm set before magic-trace was executed) come to us alone. */
static bool reached_program(const struct signalfd_siginfo *info)
{
    if (info->ssi_code != SI_KERNEL)
        return false;
    return info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT || info->ssi_signo == SIGHUP ||
           info->ssi_signo == SIGTSTP;
}

/* A sender that has ended and been waited for could be the program's child or a stranger. Its
 * signal is passed on, because a kill(1) by a user looks like that. */
static bool sent_by_program(const struct program_signals *program,
                            const struct signalfd_siginfo *info)
{
    return info->ssi_code <= 0 && info->ssi_pid != 0 &&
           process_descends_from((pid_t)info->ssi_pid, program->child.pid);
}

/* Shells without job control start background commands so: Ctrl-C at the terminal is not meant for
 * them. */
static bool ignores(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void pass_on(const struct program_signals *program, const struct signalfd_siginfo *info)
{
    siginfo_t queued = {.si_signo = (int)info->ssi_signo, .si_code = SI_QUEUE};
    queued.si_pid = (pid_t)info->ssi_pid;
    queued.si_uid = info->ssi_uid;
    queued.si_value.sival_ptr = (void *)(uintptr_t)info->ssi_ptr;
    /* Only signals with values (sigqueue(3)) may be passed on with the sender's identity. */
    pidfd_signal(program->child.descriptor, program->child.pid, (int)info->ssi_signo,
                 info->ssi_code == SI_QUEUE ? &queued : NULL);
}

static bool interrupt(struct program_signals *program)
{
    uint64_t now = monotonic_ns();
    if (program->interrupts > 0 && now - program->last_interrupt_ns < SAME_INTERRUPT_NS)
        return false;
    program->last_interrupt_ns = now;
    program->interrupts++;
    return true;
}

static void continue_program(struct program_signals *program)
{
    if (!program->stopped)
        return;
    siginfo_t event = {0};
    /* After `fg` the shell has already continued the whole group: do not repeat it. */
    bool runs = waitid(P_PID, (id_t)program->child.pid, &event, WCONTINUED | WNOHANG) == 0 &&
                event.si_pid != 0;
    if (!runs)
        pidfd_signal(program->child.descriptor, program->child.pid, SIGCONT, NULL);
    program->stopped = false;
}

/* SIGCHLD: the program stopped, was continued, or ended (which the descriptor reports). If we trace it,
 * its stops are left to the tracer. */
static void note_stop(struct program_signals *program)
{
    siginfo_t event = {0};
    id_t pid = (id_t)program->child.pid;
    if (waitid(P_PID, pid, &event, WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) != 0 ||
        event.si_pid == 0 || event.si_code == CLD_TRAPPED)
        return;
    waitid(P_PID, pid, &event, WSTOPPED | WCONTINUED | WNOHANG);
    program->stopped = event.si_code == CLD_STOPPED;
    /* A shell runs each job in a process group of its own, whose leader it watches. When we are not
     * the leader, a SIGSTOP to the program does not concern us. */
    if (program->stopped && (event.si_status != SIGSTOP || getpgrp() == getpid()))
        signals_stop_self();
}

/* Handles a signal. Returns whether it was a new interrupt. */
static bool answer(struct program_signals *program, const struct signalfd_siginfo *info)
{
    switch (info->ssi_signo) {
    case SIGCHLD:
        note_stop(program);
        return false;
    case SIGCONT:
        continue_program(program);
        return false;
    case SIGINT:
        if (sent_by_program(program, info) || (reached_program(info) && ignores(SIGINT)))
            return false;
        if (!reached_program(info))
            pass_on(program, info);
        return interrupt(program);
    default:
        if (!reached_program(info) && !sent_by_program(program, info))
            pass_on(program, info);
        return false;
    }
}

bool program_signals_answer(struct program_signals *program)
{
    struct signalfd_siginfo info;
    return signals_next(program->signals, &info) && answer(program, &info);
}

int program_signals_end(struct program_signals *program)
{
    int status = child_wait(program->child.pid);
    close(program->child.descriptor);
    return status;
}
