/* Timestamp disambiguation: at which time each step of a thread's history is shown, its *place*.
 *
 * Decoders give each event a time of its own, in proportion to the instructions executed
 * (event_batch.h), and a step is shown at that time, rounded down to the nanosecond: its place. Steps
 * of one nanosecond have one place and keep their order, so a call may have no length. No step is
 * ever moved to make room for one: lengths, and the sums of them that reports show, would then be
 * those of the rule and not of the program. Each length is wrong by less than a nanosecond, as
 * often too long as too short, so sums are right.
 *
 * A coarse clock is another matter: text of perf script gives one time to all branches that a packet
 * decided, and one microsecond may hold thousands. There the steps that share a time (a *run*) get
 * places of their own, evenly over the time until the next step, in the order in which they
 * happened:
 *
 *   - A step takes no more than DISAMBIGUATION_STEP of that time, or DISAMBIGUATION_COARSE_STEP if
 *     the clock shows whole microseconds: the rest is waiting, or a function that runs long without
 *     calling, and belongs to the last step of the run alone.
 *   - The places of a run lie between its time and that of the next step, so nothing outside of the
 *     run changes its place. Where more steps than nanoseconds are between them, several share one.
 *
 * After the last time of a thread there may be many steps: all of them where packets have no times, else
 * those after the last timing packet. A run that nothing follows, of more than DISAMBIGUATION_UNTIMED steps,
 * which no processor executes in a nanosecond, gets a nanosecond for each, whichever clock it is. A move between
 * inlined functions gets one for each of its steps (inlined_moves.h): disambiguation_splits.
 *
 * Used by replay. Constant memory, linear in time. The
 * history must not grow meanwhile.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_TIMESTAMP_DISAMBIGUATION_H
#define MAGIC_TRACE_STACK_SPANS_TIMESTAMP_DISAMBIGUATION_H

#include "base/clock.h"
#include "stack/history.h"
#include "stack/inlined_moves.h"

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds. */
enum { DISAMBIGUATION_STEP = 10, DISAMBIGUATION_COARSE_STEP = 1000 };

enum { DISAMBIGUATION_UNTIMED = 64 }; /* steps */

/* What a history's times mean. */
struct history_clock {
    const struct clock_conversion *conversion; /* borrowed; NULL: ticks are nanoseconds */
    bool is_coarse; /* steps that have one time did not happen at one moment */
};

/* A step of the history, its own time and its place. */
struct placed_step {
    struct history_step step;
    struct nanoseconds time, place;
};

/* The number of steps placed at once. */
enum { DISAMBIGUATION_WINDOW = 64 };

struct timestamp_disambiguation {
    struct clock_conversion clock;
    bool is_coarse;
    const struct inlined_moves *moves; /* borrowed; those of the history; may be NULL */
    struct nanoseconds last;           /* when the last step happens */
    struct history_cursor ahead;       /* after the step that follows the window */
    bool window_is_last;               /* there is no such step */
    bool run_goes_on;                  /* the first step after the window belongs to the window's
                                  * newest run */
    struct nanoseconds begin;          /* of the newest run in the window */
    uint64_t length;                   /* nanoseconds over which the run is spread */
    uint64_t shares, taken; /* parts into which `length` is divided, and how many are used */
    uint32_t count, next;   /* steps in the window, and steps returned */
    struct placed_step
        window[DISAMBIGUATION_WINDOW + 1]; /* and the first one after it, which has no place yet */
};

/* `moves` are those of the history, NULL if it has none. */
struct timestamp_disambiguation disambiguation_of(const struct history *history,
                                                  const struct inlined_moves *moves,
                                                  struct history_clock clock);

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

/* The end of those of them that are placed before `before`, from the one that was looked at on.
 * A thread that takes turns with others gets few at a time, one that runs alone gets all. */
static inline const struct placed_step *
disambiguation_end_before(const struct timestamp_disambiguation *disambiguation,
                          struct nanoseconds before)
{
    const struct placed_step *step = &disambiguation->window[disambiguation->next];
    const struct placed_step *end = disambiguation_end(disambiguation);
    if (step == end || end[-1].place.value < before.value)
        return end;
    while (step->place.value < before.value)
        step++;
    return step;
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

/* Whether each step of a move that happens at `time` (inlined_moves.h) is a nanosecond after the one before. */
static inline bool disambiguation_splits(const struct timestamp_disambiguation *disambiguation,
                                         struct nanoseconds time)
{
    return time.value == disambiguation->last.value && disambiguation->length > 0;
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
