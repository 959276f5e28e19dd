#include "engine/soft/supervise.h"

#include "base/log.h"
#include "engine/soft/control.h"
#include "engine/soft/processes.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* timeout(1) and others send a signal twice, to the process and to its group. No person presses
 * this fast. */
enum { SAME_INTERRUPT_NS = 100 * 1000 * 1000 };
/* How long the program may take to end after Ctrl-C before the person is told what is being waited
 * for. */
enum { PATIENCE_MS = 1000 };
/* How often a recording with a trigger is looked at, and how often the longest delay is told. */
enum { ARMED_MS = 50 };
static const uint64_t delay_report_ns = UINT64_C(5000000000);

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What the terminal sends goes to its whole foreground process group, the program included. Other
 * signals of the kernel (an alarm set before magic-trace was executed) come to us alone. */
static bool reached_program(const struct signalfd_siginfo *info)
{
    if (info->ssi_code != SI_KERNEL)
        return false;
    return info->ssi_signo == SIGINT || info->ssi_signo == SIGQUIT || info->ssi_signo == SIGHUP ||
           info->ssi_signo == SIGTSTP;
}

/* A sender that has ended and been waited for cannot be told from a stranger: its signal is passed
 * on, for that is what kill(1) of a person looks like. */
static bool sent_by_program(const struct supervision *supervision,
                            const struct signalfd_siginfo *info)
{
    return info->ssi_code <= 0 && info->ssi_pid != 0 &&
           process_descends_from((pid_t)info->ssi_pid, supervision->child.pid);
}

/* A shell without job control starts background commands so: the Ctrl-C that others get is not for
 * them. */
static bool ignores(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void pass_on(const struct supervision *supervision, const struct signalfd_siginfo *info)
{
    siginfo_t queued = {.si_signo = (int)info->ssi_signo, .si_code = SI_QUEUE};
    queued.si_pid = (pid_t)info->ssi_pid;
    queued.si_uid = info->ssi_uid;
    queued.si_value.sival_ptr = (void *)(uintptr_t)info->ssi_ptr;
    /* Only values of sigqueue(3) may be passed on under another's name. */
    syscall(SYS_pidfd_send_signal, supervision->child.descriptor, info->ssi_signo,
            info->ssi_code == SI_QUEUE ? &queued : NULL, 0);
}

static void interrupt(struct supervision *supervision)
{
    uint64_t now = now_ns();
    if (supervision->interrupts > 0 && now - supervision->last_interrupt_ns < SAME_INTERRUPT_NS)
        return;
    supervision->last_interrupt_ns = now;
    if (supervision->interrupts++ == 0) {
        control_freeze(supervision->control);
        log_status("Got signal, detaching...");
    } else {
        log_status("Got signal again, killing the program...");
        processes_kill_all(supervision->child.pid, supervision->plugin_argument);
    }
}

static void continue_program(struct supervision *supervision)
{
    if (!supervision->stopped)
        return;
    siginfo_t event = {0};
    /* After `fg` the shell has continued the whole group: do not do it twice. */
    bool runs = waitid(P_PID, (id_t)supervision->child.pid, &event, WCONTINUED | WNOHANG) == 0 &&
                event.si_pid != 0;
    if (!runs)
        syscall(SYS_pidfd_send_signal, supervision->child.descriptor, SIGCONT, NULL, 0);
    supervision->stopped = false;
}

/* SIGCHLD: the program stopped, was continued by somebody, or ended (the pidfd tells that). */
static void note_stop(struct supervision *supervision)
{
    siginfo_t event = {0};
    if (waitid(P_PID, (id_t)supervision->child.pid, &event, WSTOPPED | WCONTINUED | WNOHANG) != 0 ||
        event.si_pid == 0)
        return;
    supervision->stopped = event.si_code == CLD_STOPPED;
    /* A shell runs each job in a process group of its own, whose leader it watches. When we are no
     * leader, a SIGSTOP to the program alone is between it and its sender. */
    if (supervision->stopped && (event.si_status != SIGSTOP || getpgrp() == getpid()))
        signals_stop_self();
}

static void answer(struct supervision *supervision, const struct signalfd_siginfo *info)
{
    switch (info->ssi_signo) {
    case SIGCHLD:
        note_stop(supervision);
        return;
    case SIGCONT:
        continue_program(supervision);
        return;
    case SIGINT:
        if (sent_by_program(supervision, info) || (reached_program(info) && ignores(SIGINT)))
            return;
        if (!reached_program(info))
            pass_on(supervision, info);
        interrupt(supervision);
        return;
    default:
        if (!reached_program(info) && !sent_by_program(supervision, info))
            pass_on(supervision, info);
    }
}

/* ---- the trigger ---- */

/* Tells once that a snapshot was taken, and has the recording freeze when no thread writes packets
 * any more that could see that it is time. */
static void look_for_snapshot(struct supervision *supervision)
{
    struct soft_control *control = supervision->control;
    if (supervision->snapshot_told || atomic_load(&control->snapshots) == 0)
        return;
    supervision->snapshot_told = true;
    log_status("Snapshot taken.");
    if (atomic_load(&control->freeze_at))
        control_freeze(control);
}

static void report_delay(struct supervision *supervision)
{
    struct soft_control *control = supervision->control;
    uint64_t now = now_ns();
    if (!control->options.trigger.delay_threshold || supervision->snapshot_told ||
        now - supervision->last_report_ns < delay_report_ns)
        return;
    supervision->last_report_ns = now;
    uint64_t delay = atomic_exchange(&control->longest_delay, 0);
    log_status("Waiting for delay over threshold. Max delay since last report: %.3f ms",
               (double)delay * 1000 / (double)control->options.tsc_hz);
}

/* How long to wait for the next event, in milliseconds. */
static int patience(const struct supervision *supervision, bool told)
{
    if (supervision->interrupts == 1 && !told)
        return PATIENCE_MS;
    const struct soft_control *control = supervision->control;
    bool armed = control->options.trigger.place_count > 0 && !atomic_load(&control->frozen);
    return armed ? ARMED_MS : -1;
}

int supervise(struct supervision *supervision)
{
    struct pollfd waited_for[] = {
        {.fd = supervision->child.descriptor, .events = POLLIN},
        {.fd = supervision->signals->descriptor, .events = POLLIN},
    };
    bool told = false;
    supervision->last_report_ns = now_ns();
    for (;;) {
        int ready = poll(waited_for, 2, patience(supervision, told));
        look_for_snapshot(supervision);
        report_delay(supervision);
        if (ready == 0 && supervision->interrupts == 1 && !told) {
            told = true;
            log_status("Snapshot taken; the program still runs. Press Ctrl-C again to kill it.");
        }
        struct signalfd_siginfo info;
        if (ready > 0 && waited_for[1].revents && signals_next(supervision->signals, &info))
            answer(supervision, &info);
        else if (ready > 0 && waited_for[0].revents)
            break;
    }
    int status = -1;
    while (waitpid(supervision->child.pid, &status, 0) < 0 && errno == EINTR)
        ;
    close(supervision->child.descriptor);
    return status;
}
