/* The recording's clock at times in the past: from a value of the time-stamp counter to what the clock showed then.
 *
 * The control structure keeps when the runtime used up time, for all processes of the recording together. Called by the
 * runtime, for times that a program has read itself, and by the recorder, for the kernel's records of context switches.
 * Of what is older than the history the clock showed this much or less.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CLOCK_HISTORY_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CLOCK_HISTORY_H

#include "runtime/translator/layout.h"
#include "runtime/translator/log/clock_state.h"

/* After each system call the runtime works for a few dozen ticks: an entry stands for several of them, and converted times are
 * at most so much too late. */
enum { TR_CLOCK_HISTORY_STEP = 500 /* ticks */ };

/* Work of the runtime was over at `tsc`; `stolen` ticks in all had been used up then.
 *
 * To be called before the clock runs on: a thread that loses its processor in between would add its entry after later ones. If
 * the clock goes on standing instead, the entry does no harm, as the one after it limits the times before. One that comes late
 * all the same is not needed any more. */
static inline void tr_clock_history_add(struct tr_clock_history *history, uint64_t tsc,
                                        uint64_t stolen)
{
    uint64_t count = atomic_load(&history->count), newest = (count - 1) % TR_CLOCK_HISTORY;
    if (count > 0 &&
        (int64_t)(stolen - atomic_load(&history->entries[newest].stolen)) < TR_CLOCK_HISTORY_STEP)
        return;
    uint64_t at = atomic_fetch_add(&history->count, 1) % TR_CLOCK_HISTORY;
    /* A reader may find an entry that is being written: its time is 0 then, and it is skipped. */
    atomic_store(&history->entries[at].tsc, 0);
    atomic_store(&history->entries[at].stolen, stolen);
    atomic_store(&history->entries[at].tsc, tsc);
}

/* The clock at times of the past, from the newest to the oldest: many of them take one walk through the history. */
struct tr_past_clock {
    const struct tr_clock_history *history;
    uint64_t number; /* entries of the history that were not passed */
    /* Ticks: what the runtime had used up, and the most that the clock can have shown. */
    uint64_t stolen, limit;
    bool
        ends; /* the time asked for is older than the history: the clock showed no more than was said */
};

/* From now on back. */
static inline struct tr_past_clock tr_past_clock_begin(const struct tr_control *control)
{
    /* First the clock: if it runs, the history has the entry of the work before. */
    uint64_t state = atomic_load(&control->clock);
    struct tr_past_clock clock = {
        .history = &control->clock_history,
        .number = atomic_load(&control->clock_history.count),
        .stolen = state,
        .limit = UINT64_MAX,
    };
    if (tr_clock_stands(state)) {
        clock.stolen = atomic_load(&control->stolen);
        clock.limit = tr_clock_standing(state, control->options.start_tsc);
    }
    return clock;
}

/* What the clock showed when the time-stamp counter was `tsc`, which is no later than the one before. */
static inline uint64_t tr_past_clock_time(struct tr_past_clock *clock, uint64_t tsc)
{
    const struct tr_clock_history *history = clock->history;
    for (; clock->number > 0; clock->number--) {
        uint64_t number = clock->number - 1, entry = number % TR_CLOCK_HISTORY;
        uint64_t at = atomic_load(&history->entries[entry].tsc);
        uint64_t stolen = atomic_load(&history->entries[entry].stolen);
        clock->ends = atomic_load(&history->count) > number + TR_CLOCK_HISTORY;
        if (clock->ends)
            break;
        if (at == 0) /* being written */
            continue;
        clock->stolen = stolen;
        if (at <= tsc)
            break;
        /* This work ended after `tsc`. The clock showed `limit` then, so it cannot have shown more before. */
        clock->limit = at - stolen;
        if (number == 0) /* before all work */
            clock->stolen = 0;
    }
    uint64_t time = tsc - clock->stolen;
    return time < clock->limit ? time : clock->limit;
}

/* What the clock showed at a single time. */
static inline uint64_t tr_clock_convert(const struct tr_control *control, uint64_t tsc)
{
    struct tr_past_clock clock = tr_past_clock_begin(control);
    return tr_past_clock_time(&clock, tsc);
}

#endif
