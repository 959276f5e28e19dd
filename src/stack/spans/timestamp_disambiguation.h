/* Timestamp disambiguation: at which time each step of a thread's history is shown, its *place*.
 *
 * Events that share a time would be spans without length, in no visible order. So the steps that
 * share a nanosecond (a *run*) get places of their own, evenly over the time until the next step,
 * in the order in which they happened. Times that the decoder distinguishes (event_batch.h) are
 * kept: the first step of a run is shown at its own time, unless it slips (see below).
 *
 *   - A step takes no more than DISAMBIGUATION_STEP of that time, or DISAMBIGUATION_COARSE_STEP if
 *     the clock shows whole microseconds (perf script's text does): the rest is waiting, or a
 *     function that runs long without calling, and belongs to the last step of the run alone.
 *   - A step that enters a span lasts for 1 ns at least, so every call has a length and begins
 *     after its caller. If the next step's own time is nearer than that, that step *slips* to a
 *     later place; the next idle time makes up for the slip. At any moment the slip is less than
 *     the number of calls in some period up to then, less the nanoseconds of that period, so it
 *     grows only while a thread makes more than one call per nanosecond.
 *   - Several spans may end in the same nanosecond, one inside the other, and the next one begin.
 *   - Places never decrease, and are never before the step's own time.
 *
 * Used by replay and by marker_placement; each has its own. Constant memory, linear in time. The
 * history must not grow meanwhile.
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

/* The number of steps placed at once. */
enum { DISAMBIGUATION_WINDOW = 64 };

struct timestamp_disambiguation {
    struct clock_conversion clock;
    struct history_cursor ahead; /* after the step that follows the window */
    bool window_is_last;         /* there is no such step */
    bool run_goes_on;            /* the first step after the window belongs to the window's
                                  * newest run */
    struct nanoseconds begin;    /* of the newest run in the window */
    uint64_t length;             /* nanoseconds over which the run is spread */
    uint64_t shares, taken;      /* parts into which `length` is divided, and how many are used */
    uint64_t earliest;           /* all events are placed at it or later */
    uint32_t count, next;        /* steps in the window, and steps returned */
    struct placed_step
        window[DISAMBIGUATION_WINDOW + 1]; /* and the first one after it, which has no place yet */
};

/* `clock` NULL: ticks are nanoseconds. */
struct timestamp_disambiguation disambiguation_of(const struct history *history,
                                                  const struct clock_conversion *clock);

/* Places the steps after the window. False at the end. */
bool disambiguation_next_window(struct timestamp_disambiguation *disambiguation);

/* The next step, valid until the one after it is looked at. NULL at the end. */
static inline const struct placed_step *
disambiguation_look(struct timestamp_disambiguation *disambiguation)
{
    if (disambiguation->next == disambiguation->count &&
        !disambiguation_next_window(disambiguation))
        return NULL;
    return &disambiguation->window[disambiguation->next];
}

/* The end of the placed steps, which follow the one that was looked at in memory. */
static inline const struct placed_step *
disambiguation_end(const struct timestamp_disambiguation *disambiguation)
{
    return &disambiguation->window[disambiguation->count];
}

/* Continues at one of these, or at disambiguation_end. */
static inline void disambiguation_go_to(struct timestamp_disambiguation *disambiguation,
                                        const struct placed_step *step)
{
    disambiguation->next = (uint32_t)(step - disambiguation->window);
}

/* Skips the step that was looked at. */
static inline void disambiguation_skip(struct timestamp_disambiguation *disambiguation)
{
    disambiguation->next++;
}

/* Looks at the next step and skips it. */
static inline const struct placed_step *
disambiguation_next(struct timestamp_disambiguation *disambiguation)
{
    const struct placed_step *step = disambiguation_look(disambiguation);
    if (step != NULL)
        disambiguation_skip(disambiguation);
    return step;
}

/* The step after the one returned last, without going there. NULL at the end. */
const struct history_step *
disambiguation_peek(const struct timestamp_disambiguation *disambiguation);

#endif
