#include "stack/spans/timestamp_disambiguation.h"

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

static const struct clock_conversion ticks_are_nanoseconds = {.mult = 1};

struct spread spread_of(const struct history *history, const struct clock_conversion *clock)
{
    struct spread spread = {.clock = clock != NULL ? *clock : ticks_are_nanoseconds,
                            .ahead = history_cursor_of(history)};
    struct spread_step *first = &spread.window[0];
    spread.window_is_last = !history_next(&spread.ahead, &first->step);
    first->time = clock_to_nanoseconds(&spread.clock, first->step.time);
    return spread;
}

/* What is known of a run once its end was seen. */
struct run_end {
    uint64_t shares;         /* of the steps up to there */
    struct nanoseconds time; /* of the first step behind; if there is none: of the run */
};

/* Of the part of the run that the window has no room for. */
static struct run_end find_end(const struct spread *spread)
{
    struct run_end end = {.time = spread->begin};
    struct history_cursor cursor = spread->ahead;
    struct history_step step = spread->window[spread->count].step;
    do
        end.shares += extents[step.kind].shares;
    while (history_next(&cursor, &step) &&
           (end.time = clock_to_nanoseconds(&spread->clock, step.time)).value ==
               spread->begin.value);
    return end;
}

static uint64_t length_of_run(const struct spread *spread, struct nanoseconds end)
{
    bool is_coarse =
        spread->begin.value % SPREAD_COARSE_STEP == 0 && end.value % SPREAD_COARSE_STEP == 0;
    uint64_t length = end.value - spread->begin.value;
    uint64_t limit = spread->shares * (is_coarse ? SPREAD_COARSE_STEP : SPREAD_STEP);
    return length < limit ? length : limit;
}

/* Finds out how long the run is that begins with the step `first` and has those before `behind`, or
 * goes on behind the window. */
static void measure_run(struct spread *spread, uint32_t first, uint32_t behind)
{
    struct run_end end = {.time = spread->begin};
    if (spread->run_goes_on)
        end = find_end(spread);
    else if (behind < spread->count || !spread->window_is_last)
        end.time = spread->window[behind].time;
    for (uint32_t i = first; i < behind; i++)
        end.shares += extents[spread->window[i].step.kind].shares;
    spread->shares = end.shares;
    spread->taken = 0;
    spread->length = length_of_run(spread, end.time);
}

/* `length` times `taken` by `shares`. */
static uint64_t part_of_length(const struct spread *spread)
{
    if ((spread->length | spread->taken) <= UINT32_MAX) /* a division that processors have */
        return spread->length * spread->taken / spread->shares;
    return (uint64_t)((unsigned __int128)spread->length * spread->taken / spread->shares);
}

static uint64_t planned_place(const struct spread *spread)
{
    uint64_t part = spread->length > 0 && spread->taken > 0 ? part_of_length(spread) : 0;
    return spread->begin.value + part;
}

static inline void place_step(struct spread *spread, struct spread_step *step, uint64_t planned)
{
    step->place.value = planned > spread->earliest ? planned : spread->earliest;
    spread->earliest = step->place.value + extents[step->step.kind].minimum;
}

static void place_run(struct spread *spread, uint32_t first, uint32_t behind)
{
    for (uint32_t i = first; i < behind; i++) {
        struct spread_step *step = &spread->window[i];
        place_step(spread, step, planned_place(spread));
        spread->taken += extents[step->step.kind].shares;
    }
}

/* Places the run that begins with the step `first`, as far as it is in the window; gives the step
 * behind it. */
static uint32_t take_run(struct spread *spread, uint32_t first)
{
    uint64_t begin = spread->window[first].time.value;
    uint32_t behind = first + 1;
    while (behind < spread->count && spread->window[behind].time.value == begin)
        behind++;
    bool continues = first == 0 && spread->run_goes_on;
    spread->run_goes_on = behind == spread->count && !spread->window_is_last &&
                          spread->window[behind].time.value == begin;
    if (behind == first + 1 && !continues && !spread->run_goes_on) {
        place_step(spread, &spread->window[first], begin);
        return behind;
    }
    spread->begin.value = begin;
    if (!continues)
        measure_run(spread, first, behind);
    place_run(spread, first, behind);
    return behind;
}

/* Places steps whose time is that of no neighbour, as far as they come, at their own time. Gives
 * the first of which that is not known. */
static uint32_t place_lone_steps(struct spread *spread, uint32_t first)
{
    uint64_t earliest = spread->earliest;
    struct spread_step *step = &spread->window[first];
    const struct spread_step *end = &spread->window[spread->count];
    for (; step != end && step->time.value != step[1].time.value; step++) {
        step->place.value = step->time.value > earliest ? step->time.value : earliest;
        earliest = step->place.value + extents[step->step.kind].minimum;
    }
    spread->earliest = earliest;
    return (uint32_t)(step - spread->window);
}

/* Reads steps of the cursor's chunk, as far as it goes and they have room; gives their number. */
static uint32_t read_chunk(const struct clock_conversion *clock_pointer,
                           struct history_cursor *cursor, struct spread_step *steps, uint32_t room)
{
    const struct clock_conversion clock = *clock_pointer;
    const uint64_t *at = cursor->at, *end = cursor->end;
    struct ticks time = cursor->time;
    uint32_t count = 0;
    for (; at != end && count < room; at++) {
        if (!history_unpack(*at, &time, &steps[count].step))
            continue;
        steps[count].time = clock_to_nanoseconds(&clock, time);
        count++;
    }
    cursor->at = at;
    cursor->time = time;
    return count;
}

/* Fills the window; its first step was read already. */
static void read_window(struct spread *spread)
{
    struct history_cursor *cursor = &spread->ahead;
    uint32_t read = 0;
    while (read < SPREAD_WINDOW && (cursor->at != cursor->end || history_next_chunk(cursor)))
        read += read_chunk(&spread->clock, cursor, &spread->window[1 + read], SPREAD_WINDOW - read);
    spread->window_is_last = read < SPREAD_WINDOW;
    spread->count = spread->window_is_last ? read + 1 : read;
}

bool spread_next_window(struct spread *spread)
{
    spread->window[0] = spread->window[spread->count];
    spread->count = spread->next = 0;
    if (spread->window_is_last)
        return false;
    read_window(spread);
    uint32_t first = spread->run_goes_on ? take_run(spread, 0) : 0;
    while ((first = place_lone_steps(spread, first)) < spread->count)
        first = take_run(spread, first);
    return true;
}

const struct history_step *spread_peek(const struct spread *spread)
{
    bool is_last = spread->next == spread->count && spread->window_is_last;
    return is_last ? NULL : &spread->window[spread->next].step;
}
