/* The second pass over a whole recording: the threads' span events merged by time.
 *
 * A heap of threads, ordered by the time of their next event; at equal times the track with the
 * smaller number comes first, so that the order is the same in every run. The first of the heap
 * supplies all its events up to that of the next thread at once.
 */
#include "stack/timeline.h"

#include "base/memory.h"
#include "stack/recorded_values.h"
#include "stack/recorded_words.h"
#include "stack/spans/hit_spans.h"
#include "stack/spans/off_cpu_spans.h"
#include "stack/spans/replay.h"
#include "stack/spans/sample_spans.h"
#include "stack/spans/span_moves.h"
#include "stack/timeline_memory.h"

#include <stdlib.h>
#include <string.h>

struct row {
    struct replay replay;
    struct nanoseconds place; /* it shows nothing before this time */
    uint32_t track;
};

/* Few enough to stay in the cache until they are written. */
enum { EVENTS_AT_ONCE = 64 };

struct timeline_source {
    struct span_source source;
    struct timeline *timeline;
    struct nanoseconds origin;
    struct row *rows;  /* owned, by track */
    struct row **heap; /* owned: rows that are not at their end; the earliest first */
    size_t heap_size;
    struct arena texts;
    struct span_moves moves;
    struct arena values; /* of the events that are ready */
    size_t given, ready; /* of `events`: taken by the consumer, and present */
    struct span_event events[EVENTS_AT_ONCE];
};

static bool is_earlier(const struct row *left, const struct row *right)
{
    if (left->place.value != right->place.value)
        return left->place.value < right->place.value;
    return left->track < right->track;
}

/* Restores the heap when the row at `index` has become later. */
static void sift_down(struct timeline_source *merged, size_t index)
{
    struct row *row = merged->heap[index];
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= merged->heap_size)
            break;
        if (child + 1 < merged->heap_size &&
            is_earlier(merged->heap[child + 1], merged->heap[child]))
            child++;
        if (!is_earlier(merged->heap[child], row))
            break;
        merged->heap[index] = merged->heap[child];
        index = child;
    }
    merged->heap[index] = row;
}

static void fill_heap(struct timeline_source *merged)
{
    for (size_t i = 0; i < merged->timeline->threads.count; i++)
        if (replay_place(&merged->rows[i].replay, &merged->rows[i].place))
            merged->heap[merged->heap_size++] = &merged->rows[i];
    for (size_t i = merged->heap_size; i-- > 0;)
        sift_down(merged, i);
}

/* The time up to which the first row is the earliest. */
static struct nanoseconds turn_of_next(const struct timeline_source *merged)
{
    struct nanoseconds turn = {UINT64_MAX};
    for (size_t i = 1; i < 3 && i < merged->heap_size; i++) {
        const struct row *row = merged->heap[i];
        uint64_t place = row->place.value;
        if (merged->heap[0]->track < row->track && place < UINT64_MAX)
            place++;
        if (place < turn.value)
            turn.value = place;
    }
    return turn;
}

/* Restores the heap after the first row has supplied events. */
static void put_back_first(struct timeline_source *merged)
{
    struct row *row = merged->heap[0];
    if (!replay_place(&row->replay, &row->place))
        merged->heap[0] = merged->heap[--merged->heap_size];
    if (merged->heap_size > 1)
        sift_down(merged, 0);
}

static const struct span_function *function_of(struct timeline_source *merged,
                                               const struct replay_event *event)
{
    struct span_functions *functions = &merged->timeline->functions;
    if (event->gap != NULL)
        return span_functions_get_gap(functions, event->gap);
    return span_functions_get(functions, event->function, !merged->source.no_lines);
}

static const char *text_of(struct timeline_source *merged, const struct replay_event *event)
{
    return event->death != NULL ? event->death : gap_text(event->gap, &merged->texts);
}

/* Where the events of the first row's plain steps are made, and their common fields. */
struct plain_events {
    struct span_event *next;
    struct span_functions *functions;
    struct span_moves *moves;
    struct nanoseconds origin;
    uint32_t track;
    bool with_lines, takes_moves;
};

static inline void make_span(struct plain_events *plain, const struct placed_step *step,
                             enum span_event_kind kind, const struct span_function *function,
                             uint64_t address, enum span_end end)
{
    struct span_event *event = plain->next++;
    event->kind = kind;
    event->track = plain->track;
    event->time.value = step->place.value - plain->origin.value;
    event->function = function;
    event->address = address;
    event->flags = 0;
    event->end = end;
    event->stack = 0;
    event->text = NULL;
    event->hit = NULL;
    event->values = NULL;
}

static inline void make_event(void *context, const struct placed_step *step,
                              enum span_event_kind kind, function_id function, uint64_t address,
                              enum span_end end)
{
    struct plain_events *plain = context;
    make_span(plain, step, kind, span_functions_get(plain->functions, function, plain->with_lines),
              address, end);
}

static inline size_t make_move(void *context, const struct placed_step *step, inlined_id *open,
                               size_t room)
{
    struct plain_events *plain = context;
    const struct span_move *move = span_moves_get(plain->moves, step->step.frame);
    if (move->from != *open)
        return 0;
    if (plain->takes_moves) {
        struct span_event *event = plain->next++;
        event->kind = SPAN_MOVE;
        event->track = plain->track;
        event->time.value = step->place.value - plain->origin.value;
        event->move = move;
        *open = move->to;
        return 1;
    }
    size_t count = (size_t)move->left + move->begun;
    if (count > room)
        return 0;
    for (size_t i = 0; i < count; i++)
        make_span(plain, step, i < move->left ? SPAN_LEAVE : SPAN_ENTER, move->functions[i], 0,
                  SPAN_END_RETURN);
    *open = move->to;
    return count;
}

static struct recorded_group group_at(const struct timeline_source *merged, uint32_t index)
{
    struct recorded_group group = {0};
    if (index > 0)
        group.words = recorded_values_at(merged->heap[0]->replay.stack, index - 1, &group.count);
    return group;
}

static const struct named_values *values_of(struct timeline_source *merged,
                                            const struct replay_event *left)
{
    if (left->arguments == 0 && left->result == 0)
        return NULL;
    struct named_values *values = arena_allocate(&merged->values, sizeof *values);
    bool known = flow_read_call_values(merged->timeline->flow, group_at(merged, left->arguments),
                                       group_at(merged, left->result), &merged->values, values);
    return known ? values : NULL;
}

static void convert(struct timeline_source *merged, const struct replay_event *replayed,
                    struct span_event *event)
{
    bool instant = replayed->kind == SPAN_INSTANT;
    *event = (struct span_event){
        .kind = replayed->kind,
        .track = merged->heap[0]->track,
        .time = {replayed->place.value - merged->origin.value},
        .function = instant ? NULL : function_of(merged, replayed),
        .address = replayed->address,
        .flags = replayed->flags,
        .end = replayed->end,
        .stack = replayed->stack,
        .text = instant ? text_of(merged, replayed) : NULL,
    };
    if (replayed->kind == SPAN_LEAVE)
        event->values = values_of(merged, replayed);
}

/* Makes the events that the first row has before `turn`, as many as there is space for; returns
 * their number. */
static size_t read_first(struct timeline_source *merged, struct nanoseconds turn)
{
    static const struct replay_makes makes = {make_event, make_move};
    struct replay *replay = &merged->heap[0]->replay;
    struct plain_events plain = {
        .moves = &merged->moves,
        .functions = &merged->timeline->functions,
        .origin = merged->origin,
        .track = merged->heap[0]->track,
        .with_lines = !merged->source.no_lines,
        .takes_moves = merged->source.takes_moves,
    };
    merged->moves.with_lines = plain.with_lines;
    struct replay_event other;
    size_t count = 0;
    for (;;) {
        plain.next = merged->events + count;
        count += replay_take_plain_steps(replay, EVENTS_AT_ONCE - count, turn, &makes, &plain);
        bool is_full = EVENTS_AT_ONCE - count < REPLAY_PLAIN_EVENTS;
        if (is_full || replay_read(replay, &other, 1, turn) == 0)
            break;
        convert(merged, &other, &merged->events[count++]);
    }
    return count;
}

/* Makes events ready, if any are left. */
static void make_ready(struct timeline_source *merged)
{
    merged->given = merged->ready = 0;
    arena_free(&merged->values);
    while (merged->ready == 0 && merged->heap_size > 0) {
        merged->ready = read_first(merged, turn_of_next(merged));
        put_back_first(merged);
    }
    merged->source.function_count = merged->timeline->functions.count;
}

static size_t take_events(struct span_source *source, const struct span_event **events,
                          struct error *error)
{
    struct timeline_source *merged = source->context;
    if (merged->given == merged->ready)
        make_ready(merged);
    if (merged->ready == 0 && error != NULL)
        error->code = ERROR_NONE;
    size_t count = merged->ready - merged->given;
    *events = &merged->events[merged->given];
    merged->given = merged->ready;
    return count;
}

static bool next_event(struct span_source *source, struct span_event *event, struct error *error)
{
    struct timeline_source *merged = source->context;
    const struct span_event *events;
    size_t count = take_events(source, &events, error);
    if (count == 0)
        return false;
    *event = *events;
    merged->given -= count - 1;
    return true;
}

static void close_source(struct span_source *source)
{
    struct timeline_source *merged = source->context;
    for (size_t i = 0; i < source->track_count; i++)
        replay_free(&merged->rows[i].replay);
    free(merged->rows);
    free(merged->heap);
    arena_free(&merged->texts);
    arena_free(&merged->values);
    span_moves_free(&merged->moves);
    free(merged);
}

static bool has_switches(const struct timeline *timeline)
{
    const struct perf_data *data = flow_perf_data(timeline->flow);
    for (size_t i = 0; i < data->record_count; i++)
        if (data->records[i].kind == SIDEBAND_CONTEXT_SWITCH)
            return true;
    return false;
}

/* Samples show by themselves when a thread was not running. */
static struct span_source *add_off_cpu(struct timeline_source *merged)
{
    struct timeline *timeline = merged->timeline;
    const struct perf_data *data = flow_perf_data(timeline->flow);
    if (flow_is_sampled(timeline->flow))
        return &merged->source;
    return off_cpu_spans(&merged->source, data->records, data->record_count, merged->origin,
                         &timeline->functions);
}

static struct span_source *add_hits(struct timeline_source *merged, struct span_source *source)
{
    struct timeline *timeline = merged->timeline;
    return hit_spans(source, flow_session(timeline->flow), merged->origin, &timeline->functions);
}

static struct span_source *add_samples(struct timeline_source *merged, struct span_source *source)
{
    struct timeline *timeline = merged->timeline;
    return sample_spans(source, timeline->flow, merged->origin, &timeline->functions);
}

struct span_source *timeline_spans(struct timeline *timeline, struct error *error)
{
    size_t count = timeline->threads.count;
    struct timeline_source *merged = memory_allocate_zeroed(sizeof(*merged));
    merged->timeline = timeline;
    merged->origin = timeline_origin(timeline);
    merged->moves = span_moves_of(timeline->moves, &timeline->functions);
    merged->rows = memory_allocate_zeroed((count + 1) * sizeof(struct row));
    merged->heap = memory_allocate_zeroed((count + 1) * sizeof(struct row *));
    for (size_t i = 0; i < count; i++) {
        struct timeline_thread *thread =
            *(struct timeline_thread **)array_at(&timeline->threads, i);
        replay_init_with_clock(&merged->rows[i].replay, &thread->stack,
                               timeline_history_clock(timeline));
        merged->rows[i].track = (uint32_t)i;
    }
    fill_heap(merged);
    merged->source = (struct span_source){
        .context = merged,
        .tracks = timeline->tracks.elements,
        .track_count = count,
        .function_count = timeline->functions.count,
        .next = next_event,
        .take = take_events,
        .close = close_source,
        .wall_clock = flow_wall_clock(timeline->flow, merged->origin),
        .sampled = flow_is_sampled(timeline->flow),
        .recorded = recorded_words(&timeline->functions.memory, flow_session(timeline->flow),
                                   has_switches(timeline)),
    };
    return add_samples(merged, add_hits(merged, add_off_cpu(merged)));
}
