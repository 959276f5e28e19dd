#include "runtime/translator/trigger.h"

#include "runtime/translator/code/translation.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/clock_history.h"
#include "runtime/translator/log/log.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/system.h"
#include "runtime/translator/timed_calls.h"

/* What follows a snapshot that does not stop at once. */
enum { MICROSECONDS_AFTER = 10 };

/* ---- conditions ---- */

/* The time that the program passed, in the recording's clock; 0: none. Arguments x are passed as 2x + 1
 * (TRIGGER_STOP_INDICATOR in engine/trigger/trigger.h). */
static uint64_t passed_time(const struct tr_process *process, uint64_t value)
{
    uint64_t tsc = value >> 1;
    if (tsc == 0 || tsc < process->control->options.start_tsc || tsc > tr_rdtsc())
        return 0;
    return tr_clock_convert(process->control, tsc);
}

static void note_delay(struct tr_control *control, uint64_t delay)
{
    uint64_t longest = atomic_load(&control->longest_delay);
    while (longest < delay &&
           !atomic_compare_exchange_weak(&control->longest_delay, &longest, delay))
        ;
}

/* `duration` since the program's mark_start, or of the call; 0: not known. */
static bool counts(struct tr_control *control, uint64_t now, uint64_t duration)
{
    const struct tr_options *options = &control->options;
    uint64_t longer_than =
        options->longer_than ? options->longer_than : options->duration_threshold;
    uint64_t before = atomic_exchange(&control->previous_hit, now);
    uint64_t delay = before && now > before ? now - before : 0;
    note_delay(control, delay);
    if (options->delay_threshold && delay <= options->delay_threshold)
        return false;
    return !longer_than || duration > longer_than;
}

/* ---- what follows ---- */

static void freeze(struct tr_control *control, uint64_t now)
{
    uint64_t none = 0;
    atomic_compare_exchange_strong(&control->frozen_at, &none, now);
    atomic_store(&control->frozen, 1);
}

/* Whether tracing goes on. */
static bool take_snapshot(struct tr_control *control, uint64_t now)
{
    const struct tr_options *options = &control->options;
    if (options->multi_snapshot)
        return true;
    if (options->immediate_stop) {
        freeze(control, now);
        return false;
    }
    if (!options->full_execution) {
        uint64_t none = 0, at = now + options->tsc_hz / 1000000 * MICROSECONDS_AFTER;
        atomic_compare_exchange_strong(&control->freeze_at, &none, at);
    }
    return true;
}

/* A hit that is in no snapshot but that of another one: one snapshot is one hit, but in full execution every hit is
 * marked. */
static bool is_shown(const struct tr_options *options, uint64_t snapshots_before)
{
    return snapshots_before == 0 || options->multi_snapshot ||
           (options->full_execution && !options->immediate_stop);
}

/* ---- hits ---- */

struct hit {
    uint64_t began; /* ticks: mark_start, or the call; 0: not known */
    uint64_t duration;
    uint64_t place; /* address */
    int64_t argument;
    bool has_argument;
};

/* Execution arrives at app.pc now. Whether tracing goes on. */
static bool take_hit(struct tr_thread *thread, uint64_t now, const struct hit *hit)
{
    struct tr_control *control = thread->process->control;
    atomic_fetch_add(&control->hits, 1);
    if (!counts(control, now, hit->duration) ||
        !is_shown(&control->options, atomic_fetch_add(&control->snapshots, 1)))
        return true;
    tr_sideband_hit(thread, now, hit->place, hit->began, hit->argument, hit->has_argument);
    return take_snapshot(control, now);
}

static void note_start(struct tr_thread *thread)
{
    thread->noted_start = (struct tr_noted_start){tr_rdtsc(), tr_processor_time(thread)};
}

/* Of `passed` ticks since the time `tsc`, which the program has passed, those that the thread spent on a processor. A time
 * that another thread has read counts as a whole. */
static uint64_t passed_on_cpu(const struct tr_thread *thread, uint64_t tsc, uint64_t passed)
{
    const struct tr_options *options = &thread->process->control->options;
    const struct tr_noted_start *start = &thread->noted_start;
    if (!options->on_cpu || passed <= options->duration_threshold || start->tsc == 0 ||
        tsc < start->tsc)
        return passed;
    uint64_t now = tr_processor_time(thread);
    uint64_t time = now > start->processor_time ? now - start->processor_time : 0;
    return time < passed ? time : passed;
}

static bool reach_place(struct tr_thread *thread, uint64_t now)
{
    struct hit hit = {.place = thread->app.pc};
    tr_log_event(thread, TR_MARK, 0, &now, 1);
    if (thread->process->control->options.passes_time) {
        uint64_t tsc = thread->app.r[TR_RDI] >> 1;
        hit.began = passed_time(thread->process, thread->app.r[TR_RDI]);
        hit.duration = hit.began && now > hit.began ? now - hit.began : 0;
        hit.duration = passed_on_cpu(thread, tsc, hit.duration);
        hit.argument = (int64_t)thread->app.r[TR_RSI] >> 1;
        hit.has_argument = true;
    }
    return take_hit(thread, now, &hit);
}

/* A function's first instruction, or a place that its calls return to. */
static bool reach_call(struct tr_thread *thread, uint64_t now)
{
    const struct tr_options *options = &thread->process->control->options;
    struct tr_timed_call call;
    if (!tr_is_return_place(thread->app.pc, UINT32_MAX)) {
        /* Its beginning in the trace is where the hit will say that it was. */
        tr_log_event(thread, TR_STAMP, TR_STAMP_ENTRY, &now, 1);
        tr_timed_call_begin(thread, now);
        return true;
    }
    if (!tr_timed_call_end(thread, &call))
        return true;
    struct hit hit = {
        .began = call.began,
        .duration = tr_timed_call_duration(thread, &call, now),
        .place = call.function,
    };
    if (hit.duration > options->longer_than)
        tr_log_event(thread, TR_MARK, 0, &now, 1);
    return take_hit(thread, now, &hit);
}

/* -record-until: execution arrives at app.pc, where the recording ends, but not for a thread that was taken over there.
 * Whether tracing goes on. */
static bool reach_end(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    bool begins_here = thread->began_at == thread->app.pc;
    thread->began_at = 0;
    if (thread->stops || begins_here)
        return true;
    atomic_store(&control->until_reached, 1);
    freeze(control, tr_time(thread));
    return false;
}

bool tr_trigger_reached(struct tr_thread *thread, const struct tr_translation *translation)
{
    struct tr_control *control = thread->process->control;
    bool calls = control->options.longer_than > 0;
    if (atomic_load(&control->frozen))
        return false;
    if (translation->ends_recording && !reach_end(thread))
        return false;
    if (translation->notes_start)
        note_start(thread);
    if (!translation->hits_trigger && !(calls && translation->is_return_place))
        return true;
    if (thread->stops) {
        if (!calls || !tr_is_return_place(thread->app.pc, UINT32_MAX))
            atomic_fetch_add(&control->unseen_hits, 1);
        return true;
    }
    uint64_t now = tr_time(thread);
    return calls ? reach_call(thread, now) : reach_place(thread, now);
}
