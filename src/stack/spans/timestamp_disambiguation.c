#include "stack/spans/timestamp_disambiguation.h"

/* The parts of a run's length that a step takes. The end of a segment, and a death, take no time:
 * they are the last moment of the step before. */
static const uint8_t shares_of_kinds[HISTORY_KIND_COUNT] = {
    [HISTORY_BEGIN] = 1,         [HISTORY_BEGIN_SEEN] = 1,     [HISTORY_ENTER] = 1,
    [HISTORY_ENTER_MOVABLE] = 1, [HISTORY_REPLACE] = 1,        [HISTORY_RESUME] = 1,
    [HISTORY_GAP] = 1,           [HISTORY_RETURN] = 1,         [HISTORY_UNWIND] = 1,
    [HISTORY_INLINED] = 1,       [HISTORY_INLINED_BEFORE] = 1, [HISTORY_INLINED_END] = 1,
};

static uint64_t shares_of(const struct timestamp_disambiguation *disambiguation,
                          const struct history_step *step)
{
    if (step->kind == HISTORY_INLINED_MOVE && disambiguation->moves != NULL)
        return inlined_move_steps(inlined_moves_at(disambiguation->moves, step->frame));
    return shares_of_kinds[step->kind];
}

static const struct clock_conversion ticks_are_nanoseconds = {.mult = 1};

struct timestamp_disambiguation disambiguation_of(const struct history *history,
                                                  const struct inlined_moves *moves,
                                                  struct history_clock clock)
{
    struct timestamp_disambiguation disambiguation = {
        .clock = clock.conversion != NULL ? *clock.conversion : ticks_are_nanoseconds,
        .is_coarse = clock.is_coarse,
        .moves = moves,
        .ahead = history_cursor_of(history)};
    struct placed_step *first = &disambiguation.window[0];
    disambiguation.window_is_last = !history_next(&disambiguation.ahead, &first->step);
    first->time = first->place = clock_to_nanoseconds(&disambiguation.clock, first->step.time);
    disambiguation.last = clock_to_nanoseconds(&disambiguation.clock, history->last);
    return disambiguation;
}

/* A run whose end was found. */
struct run_end {
    uint64_t shares;         /* of the steps up to the end */
    struct nanoseconds time; /* of the first step after the run; of the run if it is the last */
};

/* The end of a run that goes beyond the window. */
static struct run_end find_end(const struct timestamp_disambiguation *disambiguation)
{
    struct run_end end = {.time = disambiguation->begin};
    struct history_cursor cursor = disambiguation->ahead;
    struct history_step step = disambiguation->window[disambiguation->count].step;
    do
        end.shares += shares_of(disambiguation, &step);
    while (history_next(&cursor, &step) &&
           (end.time = clock_to_nanoseconds(&disambiguation->clock, step.time)).value ==
               disambiguation->begin.value);
    return end;
}

static uint64_t length_of_run(const struct timestamp_disambiguation *disambiguation,
                              struct nanoseconds end)
{
    if (disambiguation->begin.value == disambiguation->last.value)
        return disambiguation->shares > DISAMBIGUATION_UNTIMED ? disambiguation->shares : 0;
    bool is_coarse = disambiguation->begin.value % DISAMBIGUATION_COARSE_STEP == 0 &&
                     end.value % DISAMBIGUATION_COARSE_STEP == 0;
    uint64_t length = end.value - disambiguation->begin.value;
    uint64_t limit =
        disambiguation->shares * (is_coarse ? DISAMBIGUATION_COARSE_STEP : DISAMBIGUATION_STEP);
    return length < limit ? length : limit;
}

/* Determines the length of the run of the steps from `first` up to before `after`, which may go
 * beyond the window. */
static void measure_run(struct timestamp_disambiguation *disambiguation, uint32_t first,
                        uint32_t after)
{
    struct run_end end = {.time = disambiguation->begin};
    if (disambiguation->run_goes_on)
        end = find_end(disambiguation);
    else if (after < disambiguation->count || !disambiguation->window_is_last)
        end.time = disambiguation->window[after].time;
    for (uint32_t i = first; i < after; i++)
        end.shares += shares_of(disambiguation, &disambiguation->window[i].step);
    disambiguation->shares = end.shares;
    disambiguation->taken = 0;
    disambiguation->length = length_of_run(disambiguation, end.time);
}

/* `length` times `taken` by `shares`. */
static uint64_t part_of_length(const struct timestamp_disambiguation *disambiguation)
{
    if ((disambiguation->length | disambiguation->taken) <=
        UINT32_MAX) /* a division that processors have */
        return disambiguation->length * disambiguation->taken / disambiguation->shares;
    return (uint64_t)((unsigned __int128)disambiguation->length * disambiguation->taken /
                      disambiguation->shares);
}

static uint64_t planned_place(const struct timestamp_disambiguation *disambiguation)
{
    uint64_t part = disambiguation->length > 0 && disambiguation->taken > 0
                        ? part_of_length(disambiguation)
                        : 0;
    return disambiguation->begin.value + part;
}

static void place_run(struct timestamp_disambiguation *disambiguation, uint32_t first,
                      uint32_t after)
{
    for (uint32_t i = first; i < after; i++) {
        struct placed_step *step = &disambiguation->window[i];
        step->place.value = planned_place(disambiguation);
        disambiguation->taken += shares_of(disambiguation, &step->step);
    }
}

/* Places the run that begins with the step `first`, as far as it is in the window; returns the step
 * after it. */
static uint32_t take_run(struct timestamp_disambiguation *disambiguation, uint32_t first)
{
    uint64_t begin = disambiguation->window[first].time.value;
    uint32_t after = first + 1;
    while (after < disambiguation->count && disambiguation->window[after].time.value == begin)
        after++;
    bool continues = first == 0 && disambiguation->run_goes_on;
    disambiguation->run_goes_on = after == disambiguation->count &&
                                  !disambiguation->window_is_last &&
                                  disambiguation->window[after].time.value == begin;
    if (after == first + 1 && !continues && !disambiguation->run_goes_on) {
        disambiguation->window[first].place.value = begin;
        return after;
    }
    disambiguation->begin.value = begin;
    if (!continues)
        measure_run(disambiguation, first, after);
    place_run(disambiguation, first, after);
    return after;
}

/* Reads steps of the cursor's chunk, at most `room`; returns their number. 0: a pause, or it has no
 * more. Steps of one time are converted once. */
static uint32_t read_chunk(const struct clock_conversion *clock_pointer,
                           struct history_cursor *cursor, struct placed_step *steps, size_t room)
{
    const struct clock_conversion clock = *clock_pointer;
    const uint64_t *at = cursor->at;
    const uint64_t *end =
        at + ((size_t)(cursor->end - at) < room ? cursor->end - at : (ptrdiff_t)room);
    struct ticks time = cursor->time, converted = time;
    struct nanoseconds place = clock_to_nanoseconds(&clock, time);
    struct placed_step *step = steps;
    while (at != end) {
        if (!history_unpack(*at++, &time, &step->step))
            continue;
        if (time.value != converted.value) {
            converted = time;
            place = clock_to_nanoseconds(&clock, time);
        }
        step->time = step->place = place;
        step++;
    }
    cursor->at = at;
    cursor->time = time;
    return (uint32_t)(step - steps);
}

/* Fills the window; its first step was already read. */
static void read_window(struct timestamp_disambiguation *disambiguation)
{
    struct history_cursor *cursor = &disambiguation->ahead;
    uint32_t read = 0;
    while (read < DISAMBIGUATION_WINDOW &&
           (cursor->at != cursor->end || history_next_chunk(cursor)))
        read += read_chunk(&disambiguation->clock, cursor, &disambiguation->window[1 + read],
                           DISAMBIGUATION_WINDOW - read);
    disambiguation->window_is_last = read < DISAMBIGUATION_WINDOW;
    disambiguation->count = disambiguation->window_is_last ? read + 1 : read;
}

/* Where the runs of the window begin that may be spread. */
static uint32_t find_first_run(const struct timestamp_disambiguation *disambiguation)
{
    uint32_t first = disambiguation->is_coarse ? 0 : disambiguation->count;
    while (first > 0 && disambiguation->window[first - 1].time.value == disambiguation->last.value)
        first--;
    return first;
}

bool disambiguation_next_window(struct timestamp_disambiguation *disambiguation)
{
    disambiguation->window[0] = disambiguation->window[disambiguation->count];
    disambiguation->count = disambiguation->next = 0;
    if (disambiguation->window_is_last)
        return false;
    read_window(disambiguation);
    uint32_t first = find_first_run(disambiguation);
    while (first < disambiguation->count)
        first = take_run(disambiguation, first);
    return true;
}

const struct history_step *
disambiguation_peek(const struct timestamp_disambiguation *disambiguation)
{
    bool is_last = disambiguation->next == disambiguation->count && disambiguation->window_is_last;
    return is_last ? NULL : &disambiguation->window[disambiguation->next].step;
}
