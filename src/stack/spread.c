#include "stack/spread.h"

/* Of each step of a run; see the table. */
struct extent {
    uint8_t shares;  /* of the run's length */
    uint8_t minimum; /* nanoseconds, in any case */
};

/* What ends a segment, and a death, are but the last moment of the step before. */
static const struct extent extents[HISTORY_KIND_COUNT] = {
    [HISTORY_BEGIN] = {1, 1},         [HISTORY_BEGIN_SEEN] = {1, 1}, [HISTORY_ENTER] = {1, 1},
    [HISTORY_ENTER_MOVABLE] = {1, 1}, [HISTORY_REPLACE] = {1, 1},    [HISTORY_RESUME] = {1, 1},
    [HISTORY_GAP] = {1, 1},           [HISTORY_RETURN] = {1, 0},     [HISTORY_UNWIND] = {1, 0},
};

static struct nanoseconds time_of(const struct spread *spread, struct ticks ticks)
{
    if (spread->clock == NULL)
        return (struct nanoseconds){ticks.value};
    return clock_to_nanoseconds(spread->clock, ticks);
}

/* Goes to the next step that may be behind the run. */
static void look_behind(struct spread *spread)
{
    spread->run_is_last = !history_next(&spread->ahead, &spread->behind);
    if (!spread->run_is_last)
        spread->behind_run = time_of(spread, spread->behind.time);
}

struct spread spread_of(const struct history *history, const struct clock_conversion *clock)
{
    struct spread spread = {
        .clock = clock,
        .next = history_cursor_of(history),
        .ahead = history_cursor_of(history),
    };
    look_behind(&spread);
    return spread;
}

static bool is_coarse(const struct spread *spread)
{
    return spread->begin.value % SPREAD_COARSE_STEP == 0 &&
           spread->behind_run.value % SPREAD_COARSE_STEP == 0;
}

static uint64_t length_of_run(const struct spread *spread)
{
    if (spread->run_is_last)
        return 0;
    uint64_t length = spread->behind_run.value - spread->begin.value;
    uint64_t limit = spread->shares * (is_coarse(spread) ? SPREAD_COARSE_STEP : SPREAD_STEP);
    return length < limit ? length : limit;
}

static bool is_in_run(const struct spread *spread)
{
    return !spread->run_is_last && spread->behind_run.value == spread->begin.value;
}

/* The run has more than its first step: goes to its end. */
static void measure_run(struct spread *spread)
{
    do {
        spread->shares += extents[spread->behind.kind].shares;
        spread->steps++;
        look_behind(spread);
    } while (is_in_run(spread));
    spread->length = length_of_run(spread);
}

/* The run begins with the step `behind`, which is given, and ends where time goes on. */
static void begin_run(struct spread *spread, struct history_step *first)
{
    *first = spread->behind;
    spread->next = spread->ahead;
    spread->begin = spread->behind_run;
    spread->shares = extents[first->kind].shares;
    spread->taken = 0;
    look_behind(spread);
    if (is_in_run(spread))
        measure_run(spread);
}

static uint64_t planned_place(const struct spread *spread)
{
    if (spread->taken == 0)
        return spread->begin.value;
    unsigned __int128 part = (unsigned __int128)spread->length * spread->taken;
    return spread->begin.value + (uint64_t)(part / spread->shares);
}

bool spread_next(struct spread *spread, struct spread_step *step)
{
    if (spread->steps > 0) {
        history_next(&spread->next, &step->step);
        spread->steps--;
    } else if (!spread->run_is_last) {
        begin_run(spread, &step->step);
    } else {
        return false;
    }
    struct extent extent = extents[step->step.kind];
    uint64_t planned = planned_place(spread);
    step->time = spread->begin;
    step->place.value = planned > spread->earliest ? planned : spread->earliest;
    spread->earliest = step->place.value + extent.minimum;
    spread->taken += extent.shares;
    return true;
}

bool spread_peek(const struct spread *spread, struct history_step *step)
{
    struct history_cursor next = spread->next;
    if (spread->steps > 0)
        return history_next(&next, step);
    *step = spread->behind;
    return !spread->run_is_last;
}
