#include "runtime/qemu_plugin/trigger.h"

#include "base/tsc.h"
#include "engine/engine.h"
#include "engine/trigger/trigger_conditions.h"
#include "runtime/qemu_plugin/clock_history.h"

#include <sys/stat.h>

/* What follows a snapshot that is not to stop at once. */
enum { MICROSECONDS_AFTER = 10 };

/* ---- places ---- */

bool trigger_concerns_file(const struct qemu_trigger *trigger, const char *path, uint64_t inode)
{
    for (uint32_t i = 0; i < trigger->place_count; i++) {
        struct stat status;
        /* /proc/self/maps and stat disagree about the device on some file systems (btrfs,
         * overlayfs), so stat decides. */
        if (trigger->places[i].inode == inode && stat(path, &status) == 0 &&
            status.st_ino == inode && status.st_dev == trigger->places[i].device)
            return true;
    }
    return false;
}

uint64_t trigger_next_place(const struct qemu_trigger *trigger, uint64_t inode,
                            uint64_t file_offset, uint64_t end)
{
    for (uint32_t i = 0; i < trigger->place_count; i++) {
        const struct qemu_trigger_place *place = &trigger->places[i];
        if (place->inode == inode && place->file_offset >= file_offset && place->file_offset < end)
            return place->file_offset;
    }
    return UINT64_MAX;
}

/* ---- conditions ---- */

/* The time that the program passed, in the recording's clock; 0: none. */
static uint64_t passed_time(const struct qemu_control *control, uint64_t value)
{
    uint64_t tsc = trigger_passed_time(value);
    if (tsc == 0 || tsc < control->options.start_tsc || tsc > tsc_now())
        return 0;
    switch ((enum record_clock)control->options.clock) {
    case RECORD_CLOCK_INSTRUCTIONS:
        return 0;
    case RECORD_CLOCK_HOST:
        return tsc;
    default:
        return clock_history_time(&control->history, tsc);
    }
}

static void note_delay(struct qemu_control *control, uint64_t delay)
{
    uint64_t longest = atomic_load(&control->longest_delay);
    while (longest < delay &&
           !atomic_compare_exchange_weak(&control->longest_delay, &longest, delay))
        ;
}

static bool counts(struct qemu_control *control, uint64_t now, uint64_t passed)
{
    const struct qemu_trigger *trigger = &control->options.trigger;
    uint64_t before = atomic_exchange(&control->previous_hit, now);
    uint64_t delay = before && now > before ? now - before : 0;
    note_delay(control, delay);
    if (trigger->delay_threshold && delay <= trigger->delay_threshold)
        return false;
    return !trigger->duration_threshold ||
           (passed && now > passed && now - passed > trigger->duration_threshold);
}

/* ---- what follows ---- */

static void freeze(struct qemu_control *control, uint64_t now)
{
    uint64_t none = 0;
    atomic_compare_exchange_strong(&control->frozen_at, &none, now);
    atomic_store(&control->frozen, 1);
}

void trigger_tick(struct qemu_control *control, uint64_t now)
{
    uint64_t at = atomic_load_explicit(&control->freeze_at, memory_order_relaxed);
    if (at && now >= at && !atomic_load(&control->frozen))
        freeze(control, now);
}

static enum trigger_verdict take_snapshot(struct qemu_control *control, uint64_t now)
{
    const struct qemu_options *options = &control->options;
    if (options->trigger.multi_snapshot)
        return TRIGGER_GOES_ON;
    if (options->trigger.immediate_stop) {
        freeze(control, now);
        return TRIGGER_STOPS;
    }
    if (!options->full_execution) {
        uint64_t none = 0, at = now + options->tsc_hz / 1000000 * MICROSECONDS_AFTER;
        atomic_compare_exchange_strong(&control->freeze_at, &none, at);
    }
    return TRIGGER_GOES_ON;
}

enum trigger_verdict trigger_hit(struct sideband *log, const struct sideband_subject *subject,
                                 uint64_t ip, const struct trigger_arguments *arguments)
{
    struct qemu_control *control = log->control;
    const struct qemu_trigger *trigger = &control->options.trigger;
    atomic_fetch_add(&control->hits, 1);
    struct logged_hit hit = {.ip = ip};
    if (trigger->passes_time && arguments->known) {
        hit.passed = passed_time(control, arguments->first);
        hit.argument = trigger_passed_argument(arguments->second);
        hit.has_argument = 1;
    }
    if (!counts(control, subject->time, hit.passed))
        return TRIGGER_GOES_ON;
    /* One snapshot is one hit, but in full execution every hit is marked. */
    uint64_t before = atomic_fetch_add(&control->snapshots, 1);
    bool all =
        trigger->multi_snapshot || (control->options.full_execution && !trigger->immediate_stop);
    if (before > 0 && !all)
        return TRIGGER_GOES_ON;
    sideband_hit(log, subject, &hit);
    return take_snapshot(control, subject->time);
}
