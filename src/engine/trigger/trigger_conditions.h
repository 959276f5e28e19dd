/* Whether a hit of the trigger counts: -duration-thresh and -delay-thresh of engine/trigger/trigger.h.
 *
 * Used by engines that receive hits one after the other (ptrace, pt, perf, sample). The qemu
 * engine's plugin decides in many threads at once, by the same rules
 * (runtime/qemu_plugin/trigger.c).
 *
 * Times: nanoseconds of any one clock.
 */
#ifndef MAGIC_TRACE_ENGINE_TRIGGER_CONDITIONS_H
#define MAGIC_TRACE_ENGINE_TRIGGER_CONDITIONS_H

#include "engine/trigger/trigger.h"

/* Begins as {.trigger = ...}. */
struct trigger_conditions {
    const struct trigger *trigger; /* borrowed */
    uint64_t previous;             /* the latest hit; 0: none yet */
    uint64_t longest_delay;        /* between hits, since the caller last set it to 0 */
};

/* There was a hit at `now`. `passed`: the time that the program passed with it; 0: none. False: it
 * does not count, but the next one's delay is measured from it all the same. A hit that is reported
 * late, with a time before the latest one's, has no delay. */
bool trigger_hit_counts(struct trigger_conditions *conditions, uint64_t now, uint64_t passed);

/* What the arguments of TRIGGER_STOP_INDICATOR mean: each x is passed as 2x + 1. The time is in
 * ticks of the processor's time-stamp counter; 0: none. */
static inline uint64_t trigger_passed_time(uint64_t first_argument)
{
    return first_argument >> 1;
}

static inline int64_t trigger_passed_argument(uint64_t second_argument)
{
    return (int64_t)second_argument >> 1;
}

#endif
