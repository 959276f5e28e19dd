#include "engine/supervise.h"

#include "base/log.h"
#include "base/monotonic.h"

#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

/* How long the program may take to end after Ctrl-C before a message says that we wait for it. */
enum { PATIENCE_MS = 1000 };
/* How often a recording with a trigger is checked, and how often the longest delay is reported. */
enum { ARMED_MS = 50 };
static const uint64_t delay_report_ns = UINT64_C(5000000000);

static void interrupt(struct supervision *supervision)
{
    if (supervision->program.interrupts == 1) {
        supervision->freeze(supervision->recording);
        log_status("Got signal, detaching...");
    } else {
        log_status("Got signal again, killing the program...");
        processes_kill_all(supervision->program.child.pid, &supervision->is_traced);
    }
}

/* ---- the trigger ---- */

/* Reports once that a snapshot was taken, and has the recording freeze when no thread runs any more
 * that could see that it is time. The thread that takes it says so first, and a moment later when that is: it may have
 * lost its processor in between. */
static void look_for_snapshot(struct supervision *supervision)
{
    if (atomic_load(supervision->shared.snapshots) == 0)
        return;
    if (!supervision->snapshot_reported)
        log_status("Snapshot taken.");
    supervision->snapshot_reported = true;
    if (atomic_load(supervision->shared.freeze_at) && !atomic_load(supervision->shared.frozen))
        supervision->freeze(supervision->recording);
}

static void report_delay(struct supervision *supervision)
{
    uint64_t now = monotonic_ns();
    if (!supervision->has_delay_threshold || supervision->snapshot_reported ||
        now - supervision->last_report_ns < delay_report_ns)
        return;
    supervision->last_report_ns = now;
    uint64_t delay = atomic_exchange(supervision->shared.longest_delay, 0);
    log_status("Waiting for delay over threshold. Max delay since last report: %.3f ms",
               (double)delay * 1000 / (double)supervision->ticks_per_second);
}

/* How long to wait for the next event, in milliseconds. */
static int patience(const struct supervision *supervision, bool reported)
{
    if (supervision->program.interrupts == 1 && !reported)
        return PATIENCE_MS;
    bool armed = supervision->has_trigger && !supervision->seen_frozen;
    return armed ? ARMED_MS : disk_reserve_patience(&supervision->reserve);
}

/* A process whose first thread has ended shows as a zombie while others run. */
static bool has_other_threads(pid_t pid)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return stat(path, &status) == 0 && status.st_nlink > 3; /* ".", ".." and the first one's */
}

static bool lives(pid_t pid)
{
    char state = thread_state(pid, pid);
    return state != 0 && state != 'X' && (state != 'Z' || has_other_threads(pid));
}

static bool any_lives(const pid_t *pids, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= lives(pids[i]);
    return any;
}

static bool any_is_traced(const struct supervision *supervision, const pid_t *pids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (lives(pids[i]) &&
            !(supervision->has_left && supervision->has_left(supervision->recording, pids[i])))
            return true;
    return false;
}

/* Why the last of the signals that came ends the recording; NULL: none does. */
static const char *take_signals(const struct signals *signals)
{
    struct signalfd_siginfo info;
    const char *reason = NULL;
    while (signals_next(signals, &info))
        if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGCONT)
            reason = signals_end_reason(&info);
    return reason;
}

/* Those that a recording goes on for. */
struct recorded_processes {
    const pid_t *pids;
    size_t count;
    bool (*any_goes_on)(const struct supervision *supervision, const pid_t *pids, size_t count);
};

/* Until the recording is frozen, a signal ends it, or no process goes on. Whether it was a signal. */
static bool look_after(struct supervision *supervision, const struct recorded_processes *recorded)
{
    struct pollfd waited_for[] = {
        {.fd = supervision->program.signals->descriptor, .events = POLLIN},
        {.fd = supervision->descriptor, .events = POLLIN},
    };
    while (!atomic_load(supervision->shared.frozen) &&
           recorded->any_goes_on(supervision, recorded->pids, recorded->count)) {
        poll(waited_for, 2, ARMED_MS);
        look_for_snapshot(supervision);
        report_delay(supervision);
        if (disk_reserve_is_reached(&supervision->reserve))
            supervision->freeze(supervision->recording);
        const char *reason = take_signals(supervision->program.signals);
        if (reason) {
            log_status("%s, detaching...", reason);
            return true;
        }
        if (supervision->serve)
            supervision->serve(supervision->recording);
    }
    look_for_snapshot(supervision);
    return false;
}

/* ---- processes that are followed ---- */

static bool any_is_followed(const struct supervision *supervision, const pid_t *pids, size_t count)
{
    const struct process_test *test = &supervision->is_followed;
    for (size_t i = 0; i < count; i++)
        if (test->holds(pids[i], test->context))
            return true;
    return supervision->executes && supervision->executes(supervision->recording);
}

static void report_followed(const char *why, size_t count)
{
    if (count == 1)
        log_status("%s. A process that was started meanwhile is still recorded: Ctrl-C ends the "
                   "recording, and the process goes on.",
                   why);
    else if (count > 1)
        log_status("%s. %zu processes that were started meanwhile are still recorded: Ctrl-C ends "
                   "the recording, and the processes go on.",
                   why, count);
}

/* Until all have ended, and what they have started, too. Whether a signal ended the recording before. `why`: why we wait,
 * for a message. */
static bool wait_for_followed(struct supervision *supervision, const char *why)
{
    struct array pids = array_of(sizeof(pid_t));
    bool is_over = supervision->is_followed.holds == NULL, reported = false, interrupted = false;
    while (!is_over) {
        pids.count = 0;
        processes_find(&pids, &supervision->is_followed);
        const struct recorded_processes recorded = {pids.elements, pids.count, any_is_followed};
        is_over = atomic_load(supervision->shared.frozen) ||
                  !any_is_followed(supervision, pids.elements, pids.count);
        if (!is_over && !reported)
            report_followed(why, pids.count);
        reported = reported || pids.count > 0;
        interrupted = !is_over && look_after(supervision, &recorded);
        is_over = is_over || interrupted;
    }
    array_free(&pids);
    return interrupted;
}

/* ---- recordings ---- */

bool supervise_attached(struct supervision *supervision, const pid_t *pids, size_t count)
{
    const struct recorded_processes recorded = {pids, count, any_is_traced};
    supervision->last_report_ns = monotonic_ns();
    if (supervision->filled_folder)
        disk_reserve_begin(&supervision->reserve, supervision->filled_folder, true);
    if (look_after(supervision, &recorded) ||
        wait_for_followed(supervision, "The processes that were attached to have ended"))
        return true;
    if (!atomic_load(supervision->shared.frozen) && any_lives(pids, count))
        log_status("Nothing is traced any more: the recording ends.");
    return false;
}

int supervise(struct supervision *supervision)
{
    struct pollfd waited_for[] = {
        {.fd = supervision->program.child.descriptor, .events = POLLIN},
        {.fd = supervision->program.signals->descriptor, .events = POLLIN},
        {.fd = supervision->descriptor, .events = POLLIN},
    };
    bool reported = false;
    supervision->last_report_ns = monotonic_ns();
    if (supervision->filled_folder)
        disk_reserve_begin(&supervision->reserve, supervision->filled_folder, true);
    for (;;) {
        int ready = poll(waited_for, 3, patience(supervision, reported));
        supervision->seen_frozen = atomic_load(supervision->shared.frozen);
        look_for_snapshot(supervision);
        report_delay(supervision);
        if (disk_reserve_is_reached(&supervision->reserve))
            supervision->freeze(supervision->recording);
        if (ready == 0 && supervision->program.interrupts == 1 && !reported) {
            reported = true;
            log_status("Snapshot taken; the program still runs. Press Ctrl-C again to kill it.");
        }
        if (ready > 0 && waited_for[1].revents) {
            if (program_signals_answer(&supervision->program))
                interrupt(supervision);
        } else if (ready > 0 && waited_for[0].revents) {
            break;
        }
        /* After SIGCHLD was taken, or the next one would be lost in it. Also when nothing was ready: the recording may be
         * frozen. */
        if (supervision->serve)
            supervision->serve(supervision->recording);
    }
    int status = program_signals_end(&supervision->program);
    if (wait_for_followed(supervision, "The program has ended")) {
        supervision->program.interrupts++;
        supervision->freeze(supervision->recording);
    }
    return status;
}
