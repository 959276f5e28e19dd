/* The recording's clock at many times of the past: as tr_clock_convert (runtime/translator/log/clock_history.h), which looks
 * through the history from its end for each, but once for all of them, from the newest to the oldest.
 *
 * Called by off_cpu.c. Signals and context switches come by the hundred thousand a second, and each signal leaves an entry.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PAST_CLOCK_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PAST_CLOCK_H

#include "runtime/translator/layout.h"

#include <stdbool.h>

struct past_clock {
    const struct tr_clock_history *history;
    uint64_t number; /* entries of the history that were not passed */
    /* Ticks: what the runtime had used up, and the most that the clock can have shown. */
    uint64_t stolen, limit;
    bool
        ends; /* the time asked for is older than the history: the clock showed no more than was said */
};

/* From now on back. */
struct past_clock past_clock_begin(const struct tr_control *control);

/* What the clock showed when the time-stamp counter was `tsc`, which is no later than the one before. */
uint64_t past_clock_time(struct past_clock *clock, uint64_t tsc);

#endif
