#include "stack/spans/off_cpu_spans.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdlib.h>

struct period {
    uint64_t begin, end; /* nanoseconds of the source; end UINT64_MAX: to the end of the trace */
    uint32_t track;
    bool preempted;
};

struct track_state {
    uint32_t depth;   /* open spans of `wrapped` */
    bool off;         /* in one of its periods */
    bool drawn;       /* whose span is open */
    bool waits;       /* in `again` */
    bool preempted;   /* in that period */
    uint64_t end;     /* of that period */
    uint64_t entered; /* when the newest span of `wrapped` began */
};

struct off_cpu_source {
    struct span_source source; /* first: the consumer's view */
    struct span_source *wrapped;
    const struct span_function *waiting, *preempted;
    struct array periods; /* of struct period, by begin */
    size_t next_period;
    struct track_state *tracks; /* owned */
    uint32_t *off; /* owned: a heap of the tracks that are off, the earliest end first */
    size_t off_count;
    struct array again;              /* of uint32_t: tracks whose span was cut, ... */
    uint64_t again_since;            /* ... and goes on after this time */
    const struct span_event *events; /* of `wrapped`: not passed on yet */
    size_t event_count;
    struct span_event room, own;
};

/* ---- periods ---- */

struct thread_place {
    uint32_t pid, tid, track;
    size_t open; /* index of its period that has not ended; SIZE_MAX: none */
};

static int by_thread(const void *left, const void *right)
{
    const struct thread_place *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static struct thread_place *sort_threads(const struct span_source *source)
{
    struct thread_place *places =
        memory_allocate((source->track_count + 1) * sizeof(struct thread_place));
    for (size_t i = 0; i < source->track_count; i++)
        places[i] = (struct thread_place){source->tracks[i].pid, source->tracks[i].tid, (uint32_t)i,
                                          SIZE_MAX};
    qsort(places, source->track_count, sizeof *places, by_thread);
    return places;
}

static struct period *period_at(const struct array *periods, size_t index)
{
    return array_at(periods, index);
}

/* Two of a kind in turn: the one between them is missing, and the period that was begun has no end
 * that is known. */
static void take_switch(struct array *periods, struct thread_place *place,
                        const struct sideband_record *record, uint64_t origin)
{
    uint64_t time = record->time.value > origin ? record->time.value - origin : 0;
    if (record->context_switch.out) {
        if (place->open != SIZE_MAX)
            period_at(periods, place->open)->end = period_at(periods, place->open)->begin;
        place->open = periods->count;
        *(struct period *)array_add(periods) =
            (struct period){time, UINT64_MAX, place->track, record->context_switch.preempted};
    } else if (place->open != SIZE_MAX) {
        period_at(periods, place->open)->end = time;
        place->open = SIZE_MAX;
    }
}

static struct array find_periods(const struct span_source *source,
                                 const struct sideband_record *records, size_t record_count,
                                 uint64_t origin)
{
    struct array periods = array_of(sizeof(struct period));
    struct thread_place *places = sort_threads(source);
    for (size_t i = 0; i < record_count; i++) {
        const struct sideband_record *record = &records[i];
        const struct thread_place wanted = {record->pid, record->tid, 0, 0};
        if (record->kind != SIDEBAND_CONTEXT_SWITCH)
            continue;
        struct thread_place *place =
            bsearch(&wanted, places, source->track_count, sizeof *places, by_thread);
        if (place)
            take_switch(&periods, place, record, origin);
    }
    free(places);
    return periods;
}

/* ---- tracks that are off ---- */

static uint64_t end_of(const struct off_cpu_source *source, size_t index)
{
    return source->tracks[source->off[index]].end;
}

static void swap_off(struct off_cpu_source *source, size_t left, size_t right)
{
    uint32_t track = source->off[left];
    source->off[left] = source->off[right];
    source->off[right] = track;
}

static void push_off(struct off_cpu_source *source, uint32_t track)
{
    size_t index = source->off_count++;
    source->off[index] = track;
    for (; index > 0 && end_of(source, index) < end_of(source, (index - 1) / 2);
         index = (index - 1) / 2)
        swap_off(source, index, (index - 1) / 2);
}

static uint32_t pop_off(struct off_cpu_source *source)
{
    uint32_t first = source->off[0];
    source->off[0] = source->off[--source->off_count];
    for (size_t index = 0;;) {
        size_t child = 2 * index + 1;
        if (child >= source->off_count)
            return first;
        if (child + 1 < source->off_count && end_of(source, child + 1) < end_of(source, child))
            child++;
        if (end_of(source, index) <= end_of(source, child))
            return first;
        swap_off(source, index, child);
        index = child;
    }
}

/* ---- events ---- */

static void make_own(struct off_cpu_source *source, enum span_event_kind kind, uint32_t track,
                     uint64_t time)
{
    struct track_state *state = &source->tracks[track];
    source->own = (struct span_event){
        .kind = kind,
        .track = track,
        .time = {time},
        .function = state->preempted ? source->preempted : source->waiting,
    };
    state->drawn = kind == SPAN_ENTER;
}

/* Of a track that is off: its span is to be drawn after `time`. */
static void draw_after(struct off_cpu_source *source, uint32_t track, uint64_t time)
{
    struct track_state *state = &source->tracks[track];
    source->again_since = time;
    if (state->waits)
        return;
    state->waits = true;
    array_add_all(&source->again, &track, 1);
}

/* Whether there is an event of ours before something happens at `time`: the span then lasts. */
static bool draw_again(struct off_cpu_source *source, uint64_t time)
{
    while (source->again.count > 0 && source->again_since + 1 < time) {
        uint32_t track = *(uint32_t *)array_at(&source->again, --source->again.count);
        struct track_state *state = &source->tracks[track];
        state->waits = false;
        if (!state->off || state->drawn || state->depth == 0 ||
            state->end <= source->again_since + 1)
            continue;
        make_own(source, SPAN_ENTER, track, source->again_since + 1);
        return true;
    }
    return false;
}

/* When the next period begins, and when the next one ends. */
static uint64_t next_begin(const struct off_cpu_source *source)
{
    return source->next_period < source->periods.count
               ? period_at(&source->periods, source->next_period)->begin
               : UINT64_MAX;
}

static uint64_t next_end(const struct off_cpu_source *source)
{
    return source->off_count > 0 ? end_of(source, 0) : UINT64_MAX;
}

/* The next period begins or ends. Whether that is an event. */
static bool change(struct off_cpu_source *source)
{
    if (next_end(source) <= next_begin(source)) {
        uint32_t track = pop_off(source);
        struct track_state *state = &source->tracks[track];
        bool drawn = state->drawn;
        state->off = false;
        if (drawn)
            make_own(source, SPAN_LEAVE, track, state->end);
        return drawn;
    }
    const struct period *period = period_at(&source->periods, source->next_period++);
    struct track_state *state = &source->tracks[period->track];
    if (state->off || period->begin >= period->end)
        return false;
    state->off = true;
    state->end = period->end;
    state->preempted = period->preempted;
    push_off(source, period->track);
    if (state->depth == 0)
        return false;
    if (state->entered == period->begin) {
        draw_after(source, period->track, period->begin);
        return false;
    }
    make_own(source, SPAN_ENTER, period->track, period->begin);
    return true;
}

/* An event of ours that comes before what happens at `time`. */
static bool make_before(struct off_cpu_source *source, uint64_t time)
{
    for (;;) {
        uint64_t begin = next_begin(source), end = next_end(source);
        uint64_t first = begin < end ? begin : end;
        if (draw_again(source, first < time ? first : time))
            return true;
        if (end > time && begin >= time)
            return false;
        if (change(source))
            return true;
    }
}

static bool moves(const struct span_event *event)
{
    return event->kind == SPAN_ENTER || event->kind == SPAN_LEAVE || event->kind == SPAN_MOVE;
}

/* How many more spans of its track are open after the event. */
static inline uint32_t depth_change(const struct span_event *event)
{
    static const int8_t changes[] = {[SPAN_ENTER] = 1, [SPAN_LEAVE] = -1, [SPAN_MOVE] = 0};
    if (event->kind == SPAN_MOVE)
        return event->move->begun - event->move->left;
    return (uint32_t)changes[event->kind];
}

static bool begins_span(const struct span_event *event)
{
    return event->kind == SPAN_ENTER || (event->kind == SPAN_MOVE && event->move->begun > 0);
}

/* Events of one track follow each other most often. */
static void count_depth(struct off_cpu_source *source, const struct span_event *event,
                        const struct span_event *end)
{
    while (event != end) {
        const struct span_event *first = event;
        struct track_state *state = &source->tracks[event->track];
        uint32_t depth = state->depth;
        for (; event != end && event->track == first->track; event++)
            depth += depth_change(event);
        state->depth = depth;
        const struct span_event *newest = event;
        while (newest != first && !begins_span(newest - 1))
            newest--;
        if (newest != first)
            state->entered = newest[-1].time.value;
    }
}

static bool is_free(const struct off_cpu_source *source, const struct span_event *event,
                    uint64_t limit)
{
    return event->time.value <= limit && !(source->tracks[event->track].off && moves(event));
}

/* How many of the events follow each other without one of ours; the first one may go. */
static size_t count_free(struct off_cpu_source *source)
{
    uint64_t begin = next_begin(source), end = next_end(source), limit = UINT64_MAX;
    if (source->again.count > 0)
        limit = source->again_since;
    if (begin < limit)
        limit = begin;
    if (source->off_count > 0 && end - 1 < limit)
        limit = end - 1;
    size_t count = source->event_count;
    if (source->off_count > 0 || source->events[count - 1].time.value > limit) {
        count = 1;
        while (count < source->event_count && is_free(source, &source->events[count], limit))
            count++;
    }
    count_depth(source, source->events, source->events + count);
    return count;
}

/* The next event of `wrapped` may go, unless the thread's span is to be cut before it. */
static bool cut(struct off_cpu_source *source)
{
    const struct span_event *event = source->events;
    struct track_state *state = &source->tracks[event->track];
    if (!state->off || !moves(event))
        return false;
    draw_after(source, event->track, event->time.value);
    if (!state->drawn)
        return false;
    make_own(source, SPAN_LEAVE, event->track, event->time.value);
    return true;
}

static bool read_wrapped(struct off_cpu_source *source, struct error *error)
{
    if (source->event_count > 0)
        return true;
    source->wrapped->no_lines = source->source.no_lines;
    source->wrapped->takes_moves = source->source.takes_moves;
    source->event_count = span_source_take(source->wrapped, &source->room, &source->events, error);
    source->source.function_count = source->wrapped->function_count;
    return source->event_count > 0;
}

static size_t take(struct span_source *opened, const struct span_event **events,
                   struct error *error)
{
    struct off_cpu_source *source = opened->context;
    if (!read_wrapped(source, error))
        return 0; /* no span is open any more */
    *events = &source->own;
    if (make_before(source, source->events->time.value) || cut(source))
        return 1;
    size_t count = count_free(source);
    *events = source->events;
    source->events += count;
    source->event_count -= count;
    return count;
}

static bool next(struct span_source *opened, struct span_event *event, struct error *error)
{
    struct off_cpu_source *source = opened->context;
    const struct span_event *events;
    if (!read_wrapped(source, error))
        return false;
    size_t whole = source->event_count;
    source->event_count = 1;
    size_t count = take(opened, &events, error);
    *event = *events;
    source->event_count = whole - (events == &source->own ? 0 : count);
    return true;
}

static void close_source(struct span_source *opened)
{
    struct off_cpu_source *source = opened->context;
    source->wrapped->close(source->wrapped);
    array_free(&source->periods);
    array_free(&source->again);
    free(source->tracks);
    free(source->off);
    free(source);
}

struct span_source *off_cpu_spans(struct span_source *source, const struct sideband_record *records,
                                  size_t record_count, struct nanoseconds origin,
                                  struct span_functions *functions)
{
    struct array periods = find_periods(source, records, record_count, origin.value);
    if (periods.count == 0) {
        array_free(&periods);
        return source;
    }
    struct off_cpu_source *opened = memory_allocate_zeroed(sizeof *opened);
    opened->waiting = span_functions_get_special(functions, OFF_CPU_NAME);
    opened->preempted = span_functions_get_special(functions, PREEMPTED_NAME);
    opened->source = *source;
    opened->source.context = opened;
    opened->source.function_count = functions->count;
    opened->source.next = next;
    opened->source.take = take;
    opened->source.close = close_source;
    opened->wrapped = source;
    opened->periods = periods;
    opened->tracks = memory_allocate_zeroed((source->track_count + 1) * sizeof *opened->tracks);
    opened->off = memory_allocate((source->track_count + 1) * sizeof *opened->off);
    opened->again = array_of(sizeof(uint32_t));
    return &opened->source;
}
