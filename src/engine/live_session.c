#include "engine/live_session.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/monotonic.h"
#include "engine/disk_reserve.h"
#include "engine/pt_packets_setup.h"
#include "engine/recording_directory.h"
#include "engine/recording_guard.h"
#include "engine/trigger/trigger_hits.h"
#include "process/exec_stop.h"
#include "process/pidfd.h"
#include "process/processes.h"
#include "process/program.h"
#include "process/program_signals.h"
#include "recording/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* How long a program may take to end after Ctrl-C before a message says that we wait for it. */
enum { PATIENCE_MS = 1000 };
/* How often the longest delay between hits is reported, where that is a condition. */
enum { DELAY_REPORT_MS = 5000 };

struct live_session {
    const struct live_recorder *recorder;
    struct live_target target;
    struct program_signals *program; /* that was started by us; NULL: attached */
    const struct signals *signals;
    struct array processes; /* of int, of pidfd_of: the processes that have not ended */
    struct trigger_hits hits;
    struct recording_guard guard;
    struct disk_reserve reserve;
    char *traced_program; /* path of its executable, for session.json; NULL: not known */
    bool recorded;        /* perf.data is complete; recording has ended */
    bool interrupted;     /* by a signal */
    bool said_to_wait;    /* the message that the program still runs after Ctrl-C */
    int followed;         /* the recorder's `recorded`, when the processes have ended; else -1 */
    uint64_t delay_reported_ms; /* when the longest delay was last reported: CLOCK_MONOTONIC */
    struct record_result *result;
};

static void *context_of(const struct live_session *session)
{
    return session->recorder->context;
}

static const struct record_options *options_of(const struct live_session *session)
{
    return session->target.options;
}

/* ---- opening and closing ---- */

static bool watch_process(struct live_session *session, pid_t pid, struct error *error)
{
    int descriptor = pidfd_of(pid);
    if (descriptor < 0 && errno == ESRCH)
        return error_set(error, ERROR_NOT_FOUND, "there is no process %d: it has ended.", (int)pid);
    if (descriptor < 0)
        return error_set_errno(error, ERROR_UNSUPPORTED, errno, "cannot watch the process %d",
                               (int)pid);
    *(int *)array_add(&session->processes) = descriptor;
    return true;
}

static void report_that_it_runs(const struct live_session *session)
{
    if (session->recorder->runs)
        session->recorder->runs(context_of(session));
}

static bool open_session(struct live_session *session, struct error *error)
{
    const struct live_target *target = &session->target;
    bool ok = true;
    session->processes = array_of(sizeof(int));
    for (size_t i = 0; ok && i < target->pid_count; i++)
        ok = watch_process(session, target->pids[i], error);
    if (!ok || !session->recorder->open(context_of(session), target, error) ||
        !trigger_hits_open(&session->hits, target->kernel, target->options, target->pids,
                           target->pid_count, error))
        return false;
    struct live_facts facts = {0};
    session->recorder->facts(context_of(session), &facts);
    session->hits.clock = facts.tsc;
    session->delay_reported_ms = monotonic_ms();
    if (target->options->full_execution)
        disk_reserve_begin(&session->reserve, target->directory, false);
    if (!target->held) {
        report_that_it_runs(session);
        session->recorder->start(context_of(session));
    }
    return true;
}

static void close_session(struct live_session *session)
{
    trigger_hits_free(&session->hits);
    session->recorder->close(context_of(session));
    recording_guard_dismiss(&session->guard);
    free(session->traced_program);
    for (size_t i = 0; i < session->processes.count; i++)
        close(*(int *)array_at(&session->processes, i));
    array_free(&session->processes);
}

/* ---- the end, snapshots ---- */

static bool take(struct live_session *session, struct error *error)
{
    session->recorder->stop(context_of(session));
    return session->recorder->drain(context_of(session), error) &&
           session->recorder->take(context_of(session), error);
}

/* Ends the recording. */
static bool finish(struct live_session *session, struct error *error)
{
    bool ok = take(session, error) && session->recorder->end(context_of(session), error);
    struct live_facts facts = {0};
    session->recorder->facts(context_of(session), &facts);
    session->result->bytes = facts.bytes;
    session->result->hits = session->hits.seen;
    session->recorded = true;
    trigger_hits_close(&session->hits);
    recording_guard_dismiss(&session->guard);
    return ok;
}

/* With several snapshots, recording continues after each; a full execution takes none. */
static bool take_snapshot(struct live_session *session, struct error *error)
{
    if (session->result->snapshots++ == 0)
        log_status("Snapshot taken.");
    if (!options_of(session)->trigger.multi_snapshot)
        return finish(session, error);
    if (options_of(session)->full_execution)
        return true;
    bool ok = take(session, error);
    session->recorder->start(context_of(session));
    return ok;
}

/* ---- what can happen ---- */

static bool interrupt(struct live_session *session, const char *reason, struct error *error)
{
    session->interrupted = session->result->interrupted = true;
    log_status("%s, detaching...", reason);
    return session->recorded || finish(session, error);
}

/* After the first Ctrl-C our program may finish; the second kills it. */
static bool handle_for_program(struct live_session *session, struct error *error)
{
    if (!program_signals_answer(session->program))
        return true;
    if (session->program->interrupts == 1)
        return interrupt(session, "Got signal", error);
    log_status("Got signal again, killing the program...");
    pidfd_signal(session->program->child.descriptor, session->program->child.pid, SIGKILL, NULL);
    return true;
}

static bool handle_signal(struct live_session *session, struct error *error)
{
    if (session->program)
        return handle_for_program(session, error);
    struct signalfd_siginfo info;
    if (!signals_next(session->signals, &info) || info.ssi_signo == SIGCHLD ||
        info.ssi_signo == SIGCONT)
        return true;
    if (info.ssi_signo == SIGTSTP) {
        signals_stop_self();
        return true;
    }
    return interrupt(session, signals_end_reason(&info), error);
}

/* Hits that came while the snapshot was taken are in it. */
static bool handle_hits(struct live_session *session, struct error *error)
{
    bool hit = false;
    while (trigger_hits_next(&session->hits)) {
        hit = true;
        if (!options_of(session)->trigger.multi_snapshot)
            break;
    }
    return !hit || take_snapshot(session, error);
}

static void forget_process(struct live_session *session, size_t index)
{
    int *descriptors = session->processes.elements;
    close(descriptors[index]);
    descriptors[index] = descriptors[--session->processes.count];
}

/* ---- waiting ---- */

enum waited_for {
    FOR_SIGNALS,
    FOR_HITS,
    FOR_RECORDER,
    FOR_FOLLOWED = FOR_RECORDER + LIVE_DESCRIPTORS, /* when the processes have ended */
    FOR_PROCESSES
};

static bool is_followed(struct live_session *session)
{
    bool may_be = options_of(session)->follow && !session->recorded;
    session->followed = may_be ? session->recorder->recorded(context_of(session)) : -1;
    return session->followed >= 0;
}

static bool reports_delay(const struct live_session *session)
{
    return !session->recorded && options_of(session)->trigger.delay_threshold_ns;
}

static int patience(const struct live_session *session)
{
    if (reports_delay(session))
        return DELAY_REPORT_MS;
    if (session->recorded)
        return session->interrupted && !session->said_to_wait ? PATIENCE_MS : -1;
    return disk_reserve_patience(&session->reserve);
}

static void report_delay(struct live_session *session)
{
    if (!reports_delay(session) || monotonic_ms() - session->delay_reported_ms < DELAY_REPORT_MS)
        return;
    session->delay_reported_ms = monotonic_ms();
    trigger_hits_report_delay(&session->hits);
}

static void say_what_is_waited_for(struct live_session *session)
{
    if (!session->recorded || !session->interrupted || session->said_to_wait)
        return;
    session->said_to_wait = true;
    log_status("Snapshot taken; the program still runs. Press Ctrl-C again to kill it.");
}

/* Descriptors of the recorder are no longer waited for after the recording: -1, which poll ignores.
 */
static void fill(const struct live_session *session, struct pollfd *waited)
{
    int descriptors[LIVE_DESCRIPTORS] = {-1, -1};
    if (!session->recorded)
        session->recorder->descriptors(context_of(session), descriptors);
    waited[FOR_SIGNALS].fd = session->signals->descriptor;
    waited[FOR_HITS].fd = trigger_hits_descriptor(&session->hits);
    for (size_t i = 0; i < LIVE_DESCRIPTORS; i++)
        waited[FOR_RECORDER + i].fd = descriptors[i];
    waited[FOR_FOLLOWED].fd = session->followed;
    for (size_t i = 0; i < session->processes.count; i++)
        waited[FOR_PROCESSES + i].fd = *(int *)array_at(&session->processes, i);
    for (size_t i = 0; i < FOR_PROCESSES + session->processes.count; i++)
        waited[i].events = POLLIN;
    waited[FOR_FOLLOWED].events = 0; /* hanging up is always reported */
}

/* One wait, and what came of it. */
static bool wait_once(struct live_session *session, struct pollfd *waited, struct error *error)
{
    fill(session, waited);
    size_t process_count = session->processes.count;
    int ready = poll(waited, FOR_PROCESSES + process_count, patience(session));
    if (ready < 0)
        return errno == EINTR || error_set_errno(error, ERROR_IO, errno, "cannot wait (poll)");
    if (ready == 0)
        say_what_is_waited_for(session);
    report_delay(session);
    if (!session->recorded && !session->recorder->drain(context_of(session), error))
        return false;
    if (!session->recorded && disk_reserve_is_reached(&session->reserve))
        return finish(session, error);
    if (waited[FOR_HITS].revents && !session->recorded && !handle_hits(session, error))
        return false;
    if (waited[FOR_SIGNALS].revents && !handle_signal(session, error))
        return false;
    for (size_t i = process_count; i-- > 0;)
        if (waited[FOR_PROCESSES + i].revents)
            forget_process(session, i);
    return true;
}

/* An attached session ends with its recording; a program of ours is waited for. */
static bool goes_on(const struct live_session *session)
{
    return session->processes.count > 0 && (session->program || !session->recorded);
}

/* The recording cannot continue (the disk is full): the traced program does, without us. */
static void give_up(struct live_session *session)
{
    session->recorded = true;
    trigger_hits_close(&session->hits);
    session->recorder->close(context_of(session));
    recording_guard_dismiss(&session->guard);
}

/* Until the program, and its recording, or the recording of the processes is over; what they have started may go on. */
static bool run_session(struct live_session *session, struct error *error)
{
    struct pollfd *waited =
        memory_allocate_zeroed((FOR_PROCESSES + session->processes.count) * sizeof *waited);
    bool ok = true;
    while (goes_on(session)) {
        struct error ignored;
        if (wait_once(session, waited, ok ? error : &ignored))
            continue;
        ok = false;
        give_up(session);
    }
    free(waited);
    return ok;
}

/* Until what the processes have started has ended, too, or the recording of that. */
static bool finish_session(struct live_session *session, struct error *error)
{
    struct pollfd waited[FOR_PROCESSES] = {0};
    session->program = NULL;
    for (bool said = false; is_followed(session); said = true) {
        if (!said)
            record_options_outlived(options_of(session));
        do {
            if (wait_once(session, waited, error))
                continue;
            give_up(session);
            return false;
        } while (!session->recorded && !waited[FOR_FOLLOWED].revents);
    }
    return session->recorded || finish(session, error);
}

/* ---- session.json ---- */

static bool write_session(const struct live_session *live, struct error *error)
{
    const struct record_options *options = options_of(live);
    struct live_facts facts = {0};
    live->recorder->facts(context_of(live), &facts);
    const struct session session = {
        .version = MAGIC_TRACE_VERSION,
        .engine = facts.engine,
        .clock = record_clock_name(RECORD_CLOCK_DEFAULT),
        .callgraph = facts.callgraph,
        .command = (const char **)options->command,
        .program = live->traced_program,
        .wall_clock_ns = facts.wall_clock_ns,
        .wall_clock_at = facts.wall_clock_at,
        .full_execution = options->full_execution,
        .multi_thread = options->multi_thread,
        .follow = options->follow,
        .snapshot_size = options->snapshot_size,
        .exit_status = live->result->exit_status,
        .untraced = (struct session_untraced *)(uintptr_t)facts.untraced,
        .untraced_count = facts.untraced_count,
        .trigger = options->trigger.name,
        .hits = live->hits.taken.elements,
        .hit_count = live->hits.taken.count,
    };
    return session_write(&session, live->target.directory, error);
}

/* ---- when we are killed ---- */

static bool prepare_guard(void *context)
{
    struct live_session *session = context;
    return session->recorder->map_again(context_of(session), NULL);
}

/* The same as Ctrl-C, in the process that guards the recording. */
static void finish_for_us(void *context)
{
    struct live_session *session = context;
    const struct live_recorder *recorder = session->recorder;
    if (recorder->go_on(context_of(session), NULL) && take(session, NULL) &&
        recorder->end(context_of(session), NULL))
        write_session(session, NULL);
}

/* session.json is there from the beginning, so that what is left is known as ours. */
static bool guard_recording(struct live_session *session, pid_t pid, struct error *error)
{
    const struct guard_duty duty = {session, prepare_guard, finish_for_us};
    session->traced_program = process_executable(pid);
    if (!write_session(session, error))
        return false;
    recording_guard_begin(&session->guard, &duty);
    return true;
}

/* ---- attach ---- */

static bool attach_session(struct live_session *session, struct error *error)
{
    session->result->exit_status = -1;
    bool ok =
        open_session(session, error) && guard_recording(session, session->target.pids[0], error);
    if (ok) {
        record_options_attached(options_of(session));
        ok = run_session(session, error) && finish_session(session, error) &&
             write_session(session, error);
    }
    close_session(session);
    return ok;
}

bool live_attach(const struct kernel *kernel, const struct live_recorder *recorder,
                 const struct record_options *options, struct record_result *result,
                 struct error *error)
{
    *result = (struct record_result){.exit_status = -1};
    struct signals signals;
    char *directory = recording_directory_prepare(options->directory, error);
    if (!directory)
        return false;
    bool ok = signals_hold(&signals, error);
    if (ok) {
        struct live_session session = {
            .recorder = recorder,
            .target = {kernel, options, directory, options->pids, options->pid_count, false},
            .signals = &signals,
            .followed = -1,
            .result = result,
        };
        ok = attach_session(&session, error);
        signals_release(&signals, true);
    }
    recording_directory_leave(directory, ok);
    return ok;
}

/* ---- record ---- */

static bool has_trigger(const struct live_session *session)
{
    return options_of(session)->trigger.name != NULL;
}

/* With a trigger the program stands still at its exec, and again where the libraries that it needs
 * are mapped, until the breakpoints are there: else a function that it calls early would not be
 * noticed. */
static bool watch_from_the_start(struct live_session *session, struct error *error)
{
    const struct child *child = &session->program->child;
    if (!has_trigger(session))
        return true;
    bool ok = handle_hits(session, error);
    if (ok && exec_stop_run_to_entry(child))
        ok = handle_hits(session, error);
    return ok;
}

static bool run_program(struct live_session *session, struct error *error)
{
    struct error ignored;
    bool ok = guard_recording(session, session->program->child.pid, error) &&
              watch_from_the_start(session, error);
    if (!ok)
        give_up(session);
    if (has_trigger(session))
        exec_stop_release(&session->program->child);
    return run_session(session, ok ? error : &ignored) && ok;
}

static bool record_session(struct live_session *session, struct held_program *held,
                           struct error *error)
{
    bool ok = open_session(session, error);
    if (!ok)
        launch_give_up(held);
    ok = ok && (has_trigger(session) ? exec_stop_reach(held, error) : launch_go(held, error));
    if (ok) {
        session->program->child = held->child;
        report_that_it_runs(session);
        ok = run_program(session, error);
        session->result->exit_status = program_signals_end(session->program);
        ok = ok && finish_session(session, error) && write_session(session, error);
    }
    close_session(session);
    return ok;
}

static bool record_into(struct live_session *session, const char *path, struct error *error)
{
    struct held_program held = {0};
    if (!launch_held(&held, path, options_of(session)->command, environ, session->signals, error))
        return false;
    session->target.pids = &held.child.pid;
    session->target.pid_count = 1;
    return record_session(session, &held, error);
}

bool live_record(const struct kernel *kernel, const struct live_recorder *recorder,
                 const struct record_options *options, struct record_result *result,
                 struct error *error)
{
    *result = (struct record_result){.exit_status = -1};
    struct signals signals;
    char *path = program_find(options->command[0], error);
    bool may_run = path && (!options->trigger.name || exec_stop_allowed(path, error));
    char *directory = may_run ? recording_directory_prepare(options->directory, error) : NULL;
    bool ok = directory && signals_hold(&signals, error);
    if (ok) {
        struct program_signals program = {.signals = &signals};
        struct live_session session = {
            .recorder = recorder,
            .target = {kernel, options, directory, NULL, 0, true},
            .program = &program,
            .signals = &signals,
            .followed = -1,
            .result = result,
        };
        ok = record_into(&session, path, error);
        signals_release(&signals, result->interrupted);
    }
    if (directory)
        recording_directory_leave(directory, ok);
    free(path);
    return ok;
}
