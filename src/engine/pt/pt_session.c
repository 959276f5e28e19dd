#include "engine/pt/pt_session.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a program may take to end after Ctrl-C before the person is told what is waited for. */
enum { PATIENCE_MS = 1000 };
/* How often the longest delay between hits is told, where that is a condition. */
enum { DELAY_REPORT_MS = 5000 };

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- opening ---- */

static bool watch_processes(struct pt_session *session, const pid_t *pids, size_t pid_count,
                            struct error *error)
{
    session->processes = array_of(sizeof(int));
    for (size_t i = 0; i < pid_count; i++) {
        int descriptor = (int)syscall(SYS_pidfd_open, pids[i], 0);
        if (descriptor < 0 && errno == ESRCH)
            return error_set(error, ERROR_NOT_FOUND, "there is no process %d: it has ended.",
                             (int)pids[i]);
        if (descriptor < 0)
            return error_set_errno(error, ERROR_UNSUPPORTED, errno,
                                   "cannot watch the process %d (pidfd_open; needs Linux 5.3)",
                                   (int)pids[i]);
        *(int *)array_add(&session->processes) = descriptor;
    }
    return true;
}

bool pt_session_open(struct pt_session *session, const struct kernel *kernel,
                     const struct record_options *options, const pid_t *pids, size_t pid_count,
                     const char *directory, struct error *error)
{
    session->options = options;
    pause_begin(&session->pause);
    bool held = session->program != NULL;
    bool ok = watch_processes(session, pids, pid_count, error) &&
              tracing_open(&session->tracing, kernel, options, pids, pid_count, held, error) &&
              pt_recording_begin(&session->recording, &session->tracing, directory, pids, pid_count,
                                 error) &&
              hits_open(&session->hits, kernel, options, pids, pid_count, error);
    if (!ok)
        pt_session_close(session);
    session->hits.clock = session->recording.clock;
    session->delay_told_ms = now_ms();
    return ok;
}

void pt_session_pause_at_trigger(struct pt_session *session, const pid_t *pids, size_t pid_count)
{
    if (!pause_wanted(session->options))
        return;
    for (size_t i = 0; i < pid_count; i++)
        pause_add(&session->pause, &session->tracing, pids[i]);
}

void pt_session_close(struct pt_session *session)
{
    pause_close(&session->pause);
    hits_free(&session->hits);
    pt_recording_abandon(&session->recording);
    tracing_close(&session->tracing);
    for (size_t i = 0; i < session->processes.count; i++)
        close(*(int *)array_at(&session->processes, i));
    array_free(&session->processes);
}

/* ---- packets ---- */

/* An event that has stopped because its area was full goes on when it is told to; but the kernel
 * may yet be about to stop it when we read that it has. So it is told again, a little later. */
static const int retry_ms[] = {1, 10, 100};

static void let_go_on(struct pt_session *session)
{
    enum { RETRIES = sizeof retry_ms / sizeof *retry_ms };
    if (session->recording.must_go_on)
        session->retries = RETRIES;
    else if (session->retries == 0)
        return;
    else
        session->retries--;
    session->recording.must_go_on = false;
    tracing_start(&session->tracing);
}

static bool drain(struct pt_session *session, struct error *error)
{
    if (!pt_recording_drain(&session->recording, error))
        return false;
    let_go_on(session);
    return true;
}

/* Nothing more is recorded. */
static bool finish(struct pt_session *session, struct error *error)
{
    struct pt_recording *recording = &session->recording;
    tracing_stop(&session->tracing);
    bool ok = pt_recording_drain(recording, error) && pt_recording_add_packets(recording, error) &&
              pt_recording_end(recording, error);
    session->result->bytes = recording->bytes;
    session->result->hits = session->hits.seen;
    session->recorded = true;
    hits_close(&session->hits);
    pause_close(&session->pause);
    tracing_close(&session->tracing);
    return ok;
}

/* With several snapshots tracing goes on behind each; of a full execution there is nothing to be
 * taken. */
static bool take_snapshot(struct pt_session *session, struct error *error)
{
    if (session->result->snapshots++ == 0)
        log_status("Snapshot taken.");
    if (!session->options->trigger.multi_snapshot)
        return finish(session, error);
    if (session->options->full_execution)
        return true;
    tracing_stop(&session->tracing);
    bool ok = pt_recording_drain(&session->recording, error) &&
              pt_recording_add_packets(&session->recording, error);
    tracing_start(&session->tracing);
    return ok;
}

/* ---- what can happen ---- */

static bool interrupt(struct pt_session *session, struct error *error)
{
    session->interrupted = session->result->interrupted = true;
    log_status("Got signal, detaching...");
    return session->recorded || finish(session, error);
}

/* A program of ours goes on after the first Ctrl-C, and is killed by the second. */
static bool hear_for_program(struct pt_session *session, struct error *error)
{
    if (!program_signals_answer(session->program))
        return true;
    if (session->program->interrupts == 1)
        return interrupt(session, error);
    log_status("Got signal again, killing the program...");
    syscall(SYS_pidfd_send_signal, session->program->child.descriptor, SIGKILL, NULL, 0);
    return true;
}

static bool hear_signal(struct pt_session *session, struct error *error)
{
    if (session->program)
        return hear_for_program(session, error);
    struct signalfd_siginfo info;
    if (!signals_next(session->signals, &info) || info.ssi_signo == SIGCHLD ||
        info.ssi_signo == SIGCONT)
        return true;
    if (info.ssi_signo == SIGTSTP) {
        signals_stop_self();
        return true;
    }
    return interrupt(session, error);
}

/* Hits that came while the snapshot was taken are in it. */
static bool hear_hits(struct pt_session *session, struct error *error)
{
    bool hit = false;
    while (hits_next(&session->hits)) {
        hit = true;
        if (!session->options->trigger.multi_snapshot)
            break;
    }
    return !hit || take_snapshot(session, error);
}

static void forget_process(struct pt_session *session, size_t index)
{
    int *descriptors = session->processes.elements;
    close(descriptors[index]);
    descriptors[index] = descriptors[--session->processes.count];
}

/* ---- waiting ---- */

enum waited_for { FOR_SIGNALS, FOR_SIDE_BAND, FOR_PACKETS, FOR_KERNEL, FOR_HITS, FOR_PROCESSES };

static bool tells_delay(const struct pt_session *session)
{
    return !session->recorded && session->options->trigger.delay_threshold_ns;
}

static int patience(const struct pt_session *session)
{
    enum { RETRIES = sizeof retry_ms / sizeof *retry_ms };
    if (!session->recorded && session->retries > 0)
        return retry_ms[RETRIES - session->retries];
    if (tells_delay(session))
        return DELAY_REPORT_MS;
    return session->recorded && session->interrupted && !session->said_to_wait ? PATIENCE_MS : -1;
}

static void tell_delay(struct pt_session *session)
{
    if (!tells_delay(session) || now_ms() - session->delay_told_ms < DELAY_REPORT_MS)
        return;
    session->delay_told_ms = now_ms();
    hits_tell_delay(&session->hits);
}

static void say_what_is_waited_for(struct pt_session *session)
{
    if (!session->recorded || !session->interrupted || session->said_to_wait)
        return;
    session->said_to_wait = true;
    log_status("Snapshot taken; the program still runs. Press Ctrl-C again to kill it.");
}

/* Descriptors of what was recorded are -1, which poll passes over. */
static void fill(const struct pt_session *session, struct pollfd *waited)
{
    waited[FOR_SIGNALS].fd = session->signals->descriptor;
    waited[FOR_SIDE_BAND].fd = session->tracing.side_band.descriptor;
    waited[FOR_PACKETS].fd = session->tracing.packets.descriptor;
    waited[FOR_KERNEL].fd = session->tracing.kernel_side_band.descriptor;
    waited[FOR_HITS].fd = hits_descriptor(&session->hits);
    for (size_t i = 0; i < session->processes.count; i++)
        waited[FOR_PROCESSES + i].fd = *(int *)array_at(&session->processes, i);
    for (size_t i = 0; i < FOR_PROCESSES + session->processes.count; i++)
        waited[i].events = POLLIN;
}

/* One wait, and what came of it. */
static bool wait_once(struct pt_session *session, struct pollfd *waited, struct error *error)
{
    fill(session, waited);
    size_t process_count = session->processes.count;
    int ready = poll(waited, FOR_PROCESSES + process_count, patience(session));
    if (ready < 0)
        return errno == EINTR || error_set_errno(error, ERROR_IO, errno, "cannot wait (poll)");
    if (ready == 0)
        say_what_is_waited_for(session);
    tell_delay(session);
    if (!session->recorded && !drain(session, error))
        return false;
    if (waited[FOR_HITS].revents && !session->recorded && !hear_hits(session, error))
        return false;
    if (waited[FOR_SIGNALS].revents && !hear_signal(session, error))
        return false;
    for (size_t i = process_count; i-- > 0;)
        if (waited[FOR_PROCESSES + i].revents)
            forget_process(session, i);
    return true;
}

/* An attached session ends with its recording; a program of ours is waited for. */
static bool goes_on(const struct pt_session *session)
{
    return session->processes.count > 0 && (session->program || !session->recorded);
}

/* Nothing can be recorded any more (the disk is full): what is traced goes on without us. */
static void give_up(struct pt_session *session)
{
    session->recorded = true;
    pt_recording_abandon(&session->recording);
    pause_close(&session->pause);
    tracing_close(&session->tracing);
}

bool pt_session_run(struct pt_session *session, struct error *error)
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
    return ok && (session->recorded || finish(session, error));
}
