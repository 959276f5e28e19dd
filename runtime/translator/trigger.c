#include "runtime/translator/trigger.h"

#include "runtime/translator/clock.h"
#include "runtime/translator/log.h"
#include "runtime/translator/sideband.h"
#include "runtime/translator/system.h"

/* What follows a snapshot that does not stop at once. */
enum { MICROSECONDS_AFTER = 10 };

/* ---- conditions ---- */

/* The time that the program passed, in the recording's clock; 0: none. Arguments x are passed as 2x + 1
 * (TRIGGER_STOP_INDICATOR in engine/trigger.h). */
static uint64_t passed_time(const struct tr_process *process, uint64_t value)
{
    uint64_t tsc = value >> 1;
    if (tsc == 0 || tsc < process->control->options.start_tsc || tsc > tr_rdtsc())
        return 0;
    return tr_clock_convert(process, tsc);
}

static void note_delay(struct tr_control *control, uint64_t delay)
{
    uint64_t longest = atomic_load(&control->longest_delay);
    while (longest < delay &&
           !atomic_compare_exchange_weak(&control->longest_delay, &longest, delay))
        ;
}

static bool counts(struct tr_control *control, uint64_t now, uint64_t passed)
{
    const struct tr_options *options = &control->options;
    uint64_t before = atomic_exchange(&control->previous_hit, now);
    uint64_t delay = before && now > before ? now - before : 0;
    note_delay(control, delay);
    if (options->delay_threshold && delay <= options->delay_threshold)
        return false;
    return !options->duration_threshold ||
           (passed && now > passed && now - passed > options->duration_threshold);
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

bool tr_trigger_reached(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    const struct tr_options *options = &control->options;
    if (atomic_load(&control->frozen))
        return false;
    if (thread->stops) {
        atomic_fetch_add(&control->unseen_hits, 1);
        return true;
    }
    uint64_t now = tr_time(thread), passed = 0;
    int64_t argument = 0;
    tr_log_event(thread, TR_MARK, 0, &now, 1);
    atomic_fetch_add(&control->hits, 1);
    if (options->passes_time) {
        passed = passed_time(thread->process, thread->app.r[TR_RDI]);
        argument = (int64_t)thread->app.r[TR_RSI] >> 1;
    }
    if (!counts(control, now, passed))
        return true;
    /* One snapshot is one hit, but in full execution every hit is marked. */
    uint64_t before = atomic_fetch_add(&control->snapshots, 1);
    bool all = options->multi_snapshot || (options->full_execution && !options->immediate_stop);
    if (before > 0 && !all)
        return true;
    tr_sideband_hit(thread, now, thread->app.pc, passed, argument, options->passes_time);
    return take_snapshot(control, now);
}
