/* Spreading: where on the time axis each step of a thread's history is shown.
 *
 * Events that share a time would be spans without length, in no visible order. So the steps that
 * share a nanosecond (a *run*) are given places of their own, evenly over the time until the next
 * step, in the order in which they happened. Times that the decoder tells apart (event_batch.h) are
 * left as they are: the first step of a run is always shown at its own time.
 *
 *   - A step takes no more than DISAMBIGUATION_STEP of it, or DISAMBIGUATION_COARSE_STEP where the clock shows
 *     whole microseconds (perf script's text does): what comes later is waiting, or a function that
 *     runs long without calling, and belongs to the last step of the run alone.
 *   - What enters a span lasts for 1 ns at least, so every call has a length and begins after its
 *     caller. Where the next step's own time is nearer than that, it *slips* behind; the slip is
 *     taken up by the next idle time there is. At any moment it is less than the number of calls in
 *     some stretch up to then, less the nanoseconds of that stretch, so it grows only while a
 *     thread calls more than once in a nanosecond.
 *   - Several spans may end in the same nanosecond, one inside the other, and the next one begin.
 *   - Places never go backwards, and are never before the step's own time.
 *
 * Read by replay and by marker_placement; each has its own. Constant memory, linear in time. The history
 * must not grow meanwhile.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_TIMESTAMP_DISAMBIGUATION_H
#define MAGIC_TRACE_STACK_SPANS_TIMESTAMP_DISAMBIGUATION_H

#include "base/clock.h"
#include "stack/history.h"

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds. */
enum { DISAMBIGUATION_STEP = 10, DISAMBIGUATION_COARSE_STEP = 1000 };

/* A step of the history, its own time and its place. */
struct placed_step {
    struct history_step step;
    struct nanoseconds time, place;
};

/* Steps are placed so many at once. */
enum { DISAMBIGUATION_WINDOW = 64 };

struct timestamp_disambiguation {
    struct clock_conversion clock;
    struct history_cursor ahead; /* just behind the step that is behind the window */
    bool window_is_last;         /* there is no such step */
    bool run_goes_on;            /* it is of the newest run in the window */
    struct nanoseconds begin;    /* of the newest run in the window */
    uint64_t length;             /* nanoseconds over which it is spread */
    uint64_t shares, taken;      /* parts into which `length` is divided, and given out */
    uint64_t earliest;           /* nothing is placed before */
    uint32_t count, next;        /* steps in the window, and given */
    struct placed_step
        window[DISAMBIGUATION_WINDOW + 1]; /* and the first behind, which has no place yet */
};

/* `clock` NULL: ticks are nanoseconds. */
struct timestamp_disambiguation disambiguation_of(const struct history *history,
                                                  const struct clock_conversion *clock);

/* Places the steps behind the window. False at the end. */
bool disambiguation_next_window(struct timestamp_disambiguation *disambiguation);

/* The next step, valid until the one behind it is looked at. NULL at the end. */
static inline const struct placed_step *
disambiguation_look(struct timestamp_disambiguation *disambiguation)
{
    if (disambiguation->next == disambiguation->count &&
        !disambiguation_next_window(disambiguation))
        return NULL;
    return &disambiguation->window[disambiguation->next];
}

/* Behind the last of the steps that lie behind the one that was looked at, one after the other. */
static inline const struct placed_step *
disambiguation_end(const struct timestamp_disambiguation *disambiguation)
{
    return &disambiguation->window[disambiguation->count];
}

/* Goes on at one of these, or at disambiguation_end. */
static inline void disambiguation_go_to(struct timestamp_disambiguation *disambiguation,
                                        const struct placed_step *step)
{
    disambiguation->next = (uint32_t)(step - disambiguation->window);
}

/* Goes past the step that was looked at. */
static inline void disambiguation_skip(struct timestamp_disambiguation *disambiguation)
{
    disambiguation->next++;
}

/* Both at once. */
static inline const struct placed_step *
disambiguation_next(struct timestamp_disambiguation *disambiguation)
{
    const struct placed_step *step = disambiguation_look(disambiguation);
    if (step != NULL)
        disambiguation_skip(disambiguation);
    return step;
}

/* What the step after the one given last is, without going there. NULL at the end. */
const struct history_step *
disambiguation_peek(const struct timestamp_disambiguation *disambiguation);

#endif
