#include "engine/pt/pt_recorder.h"

#include "base/log.h"
#include "recording/flags.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* ---- opening ---- */

static bool open_recorder(void *context, const struct live_target *target, struct error *error)
{
    struct pt_recorder *recorder = context;
    recorder->target = target;
    recorder->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    pause_begin(&recorder->pause);
    if (recorder->timer < 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot wait (timerfd)");
    return tracing_open(&recorder->tracing, target->kernel, target->options, target->pids,
                        target->pid_count, target->held, error) &&
           pt_recording_begin(&recorder->recording, &recorder->tracing, target->directory,
                              target->pids, target->pid_count, error);
}

static void runs(void *context)
{
    struct pt_recorder *recorder = context;
    const struct live_target *target = recorder->target;
    if (!pause_wanted(target->options))
        return;
    for (size_t i = 0; i < target->pid_count; i++)
        pause_add(&recorder->pause, &recorder->tracing, target->pids[i]);
}

static void start(void *context)
{
    struct pt_recorder *recorder = context;
    tracing_start(&recorder->tracing);
}

static void stop(void *context)
{
    struct pt_recorder *recorder = context;
    tracing_stop(&recorder->tracing);
}

/* ---- recording ---- */

static void descriptors(void *context, int found[LIVE_DESCRIPTORS])
{
    struct pt_recorder *recorder = context;
    found[0] = recorder->tracing.descriptor;
    found[1] = recorder->timer;
}

static int recorded(void *context)
{
    const struct pt_recorder *recorder = context;
    return event_rings_recorded(&recorder->tracing.packets);
}

/* Restarts events that stopped because their area was full. A restart may come before the stop of
 * which the kernel has written the record, so it is repeated a little later. */
static void let_go_on(struct pt_recorder *recorder)
{
    static const long retry_ms[] = {1, 10, 100};
    enum { RETRIES = sizeof retry_ms / sizeof *retry_ms };
    uint64_t expirations;
    bool due = read(recorder->timer, &expirations, sizeof expirations) > 0;
    if (recorder->recording.records.must_go_on)
        recorder->retries = RETRIES;
    else if (!due)
        return;
    else
        recorder->retries--;
    recorder->recording.records.must_go_on = false;
    tracing_start(&recorder->tracing);
    struct itimerspec next = {0};
    if (recorder->retries > 0)
        next.it_value.tv_nsec = retry_ms[RETRIES - recorder->retries] * 1000000;
    timerfd_settime(recorder->timer, 0, &next, NULL);
}

static bool drain(void *context, struct error *error)
{
    struct pt_recorder *recorder = context;
    if (!pt_recording_drain(&recorder->recording, error))
        return false;
    let_go_on(recorder);
    return true;
}

static bool take(void *context, struct error *error)
{
    struct pt_recorder *recorder = context;
    return pt_recording_add_packets(&recorder->recording, error);
}

/* ---- the end ---- */

static void end_tracing(struct pt_recorder *recorder)
{
    pause_close(&recorder->pause);
    tracing_close(&recorder->tracing);
    if (recorder->target && recorder->timer >= 0)
        close(recorder->timer);
    recorder->timer = -1;
}

static bool end(void *context, struct error *error)
{
    struct pt_recorder *recorder = context;
    bool ok = pt_recording_end(&recorder->recording, error);
    end_tracing(recorder);
    return ok;
}

/* ---- in the process that guards the recording ---- */

static bool map_again(void *context, struct error *error)
{
    struct pt_recorder *recorder = context;
    return tracing_map_again(&recorder->tracing, error);
}

static bool go_on(void *context, struct error *error)
{
    struct pt_recorder *recorder = context;
    return raw_perf_data_continue(recorder->recording.writer, error);
}

static void facts(void *context, struct live_facts *facts)
{
    const struct pt_recording *recording = &((struct pt_recorder *)context)->recording;
    *facts = (struct live_facts){
        .engine = "pt",
        .untraced = recording->records.untraced.found.elements,
        .untraced_count = recording->records.untraced.found.count,
        .tsc = recording->clock,
        .wall_clock_ns = recording->wall_clock_ns,
        .wall_clock_at = recording->wall_clock_at,
        .bytes = recording->bytes,
    };
}

static void warn_of_losses(const struct pt_records *records)
{
    if (records->lost_packets)
        log_warning(
            "packets were lost %llu time(s), as they came faster than they could be "
            "written; the trace has a gap each time. A larger " FLAG_SNAPSHOT_SIZE ", a faster "
            "disk for " FLAG_WORKING_DIRECTORY " or " FLAG_TIMER_RESOLUTION " Low may help.",
            (unsigned long long)records->lost_packets);
    if (records->lost_records)
        log_warning("%llu record(s) of mappings, names or threads were lost, as they came faster "
                    "than they could be read. Code mapped by them cannot be decoded.",
                    (unsigned long long)records->lost_records);
}

static void close_recorder(void *context)
{
    struct pt_recorder *recorder = context;
    warn_of_losses(&recorder->recording.records);
    pt_recording_abandon(&recorder->recording);
    end_tracing(recorder);
    *recorder = (struct pt_recorder){.timer = -1};
}

struct live_recorder pt_recorder_new(struct pt_recorder *recorder)
{
    return (struct live_recorder){
        .context = recorder,
        .open = open_recorder,
        .start = start,
        .runs = runs,
        .stop = stop,
        .descriptors = descriptors,
        .recorded = recorded,
        .drain = drain,
        .take = take,
        .end = end,
        .map_again = map_again,
        .go_on = go_on,
        .facts = facts,
        .close = close_recorder,
    };
}
