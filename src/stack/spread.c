#include "stack/spread.h"

/* Of each step of a run; see the table. */
struct extent {
    uint8_t shares;  /* of the run's length */
    uint8_t minimum; /* nanoseconds, in any case */
};

/* What ends a segment, and a death, are but the last moment of the step before. */
static struct extent extent_of(enum history_kind kind)
{
    switch (kind) {
    case HISTORY_BEGIN:
    case HISTORY_BEGIN_SEEN:
    case HISTORY_ENTER:
    case HISTORY_ENTER_MOVABLE:
    case HISTORY_REPLACE:
    case HISTORY_RESUME:
    case HISTORY_GAP:
        return (struct extent){1, 1};
    case HISTORY_RETURN:
    case HISTORY_UNWIND:
        return (struct extent){1, 0};
    case HISTORY_END_GAP:
    case HISTORY_END_EXEC:
    case HISTORY_END_TRACE:
    case HISTORY_END_LANDING:
    case HISTORY_END_SWITCH:
    case HISTORY_GAP_END:
    case HISTORY_DEATH:
    case HISTORY_PAUSE:
    case HISTORY_KIND_COUNT:
        break;
    }
    return (struct extent){0, 0};
}

static struct nanoseconds time_of(const struct spread *spread, struct ticks ticks)
{
    if (spread->clock == NULL)
        return (struct nanoseconds){ticks.value};
    return clock_to_nanoseconds(spread->clock, ticks);
}

/* Goes to the next step that is not of the run. */
static void look_behind(struct spread *spread, struct history_step *step)
{
    spread->run_is_last = !history_next(&spread->ahead, step);
    if (!spread->run_is_last)
        spread->behind_run = time_of(spread, step->time);
}

struct spread spread_of(const struct history *history, const struct clock_conversion *clock)
{
    struct spread spread = {
        .clock = clock,
        .next = history_cursor_of(history),
        .ahead = history_cursor_of(history),
    };
    struct history_step first;
    look_behind(&spread, &first);
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

/* The run begins with the step that `next` comes to and ends where time goes on. */
static void begin_run(struct spread *spread)
{
    struct history_cursor next = spread->next;
    struct history_step step;
    history_next(&next, &step);
    spread->begin = spread->behind_run;
    spread->steps = spread->shares = spread->taken = 0;
    do {
        spread->shares += extent_of(step.kind).shares;
        spread->steps++;
        look_behind(spread, &step);
    } while (!spread->run_is_last && spread->behind_run.value == spread->begin.value);
    spread->length = length_of_run(spread);
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
    if (spread->steps == 0) {
        if (spread->run_is_last)
            return false;
        begin_run(spread);
    }
    history_next(&spread->next, &step->step);
    struct extent extent = extent_of(step->step.kind);
    uint64_t planned = planned_place(spread);
    step->time = spread->begin;
    step->place.value = planned > spread->earliest ? planned : spread->earliest;
    spread->earliest = step->place.value + extent.minimum;
    spread->taken += extent.shares;
    spread->steps--;
    return true;
}

bool spread_peek(const struct spread *spread, struct history_step *step)
{
    struct history_cursor next = spread->next;
    return history_next(&next, step);
}
