/* The recording's clock as a function of the time-stamp counter: one word in the control structure, for all threads and
 * processes of the recording, and for the recorder.
 *
 * Running, its value is what is taken off the TSC: time = TSC - state. While the runtime works in some thread (translates,
 * links, dumps code), the clock stands still: bit 63 is set, the bits below count the threads that work, and the low
 * ones hold the time since start_tsc at which it stands. So a thread that runs on meanwhile is never ahead of one that
 * worked: an effect cannot have an earlier time than its cause.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CLOCK_STATE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CLOCK_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define TR_CLOCK_STANDS (UINT64_C(1) << 63)
#define TR_CLOCK_WORKER (UINT64_C(1) << 53) /* one of the threads that work */

static inline bool tr_clock_stands(uint64_t state)
{
    return state & TR_CLOCK_STANDS;
}

/* How many threads work, as far as the bits suffice. */
static inline uint64_t tr_clock_workers(uint64_t state)
{
    return (state & ~TR_CLOCK_STANDS) / TR_CLOCK_WORKER;
}

/* The time at which it stands. */
static inline uint64_t tr_clock_standing(uint64_t state, uint64_t start_tsc)
{
    return start_tsc + (state & (TR_CLOCK_WORKER - 1));
}

/* The state that stands at `time`, for one thread. Before start_tsc, which another processor's counter may be by a few ticks, there
 * is no time. */
static inline uint64_t tr_clock_stand_at(uint64_t time, uint64_t start_tsc)
{
    uint64_t since = (int64_t)(time - start_tsc) < 0 ? 0 : time - start_tsc;
    return TR_CLOCK_STANDS | TR_CLOCK_WORKER | (since & (TR_CLOCK_WORKER - 1));
}

/* The time when the TSC is `tsc`. */
static inline uint64_t tr_clock_time(uint64_t state, uint64_t start_tsc, uint64_t tsc)
{
    return tr_clock_stands(state) ? tr_clock_standing(state, start_tsc) : tsc - state;
}

#endif
