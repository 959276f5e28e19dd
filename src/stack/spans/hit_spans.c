#include "stack/spans/hit_spans.h"

#include "base/memory.h"
#include "stack/spans/span_overlay.h"

#include <stdio.h>
#include <stdlib.h>

/* More tracks would not be readable; further hits are shown without their length, at the earliest
 * when the first track is free. */
enum { ROWS_MAX = 64, ROW_NAME_SIZE = 16 };

struct row {
    uint64_t end; /* of the last hit on it */
};

struct hit_event {
    uint64_t time;
    uint32_t order; /* decides at equal times */
    uint32_t row;
    bool enter;
    const struct span_hit *hit;
};

struct hit_rows {
    struct span_hit *hits;
    struct hit_event *events; /* owned; by time */
    size_t event_count;
    struct row rows[ROWS_MAX];
    uint32_t row_count;
};

/* ---- rows ---- */

static uint32_t choose_row(struct hit_rows *hits, uint64_t start)
{
    for (uint32_t i = 0; i < hits->row_count; i++)
        if (hits->rows[i].end <= start)
            return i;
    return hits->row_count < ROWS_MAX ? hits->row_count++ : ROWS_MAX;
}

static uint32_t row_free_first(const struct hit_rows *hits)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < hits->row_count; i++)
        if (hits->rows[i].end < hits->rows[first].end)
            first = i;
    return first;
}

static void add_event(struct hit_rows *hits, uint64_t time, uint32_t row, bool enter,
                      const struct span_hit *hit)
{
    uint32_t order = (uint32_t)hits->event_count;
    hits->events[hits->event_count++] = (struct hit_event){time, order, row, enter, hit};
}

static void place(struct hit_rows *hits, const struct span_hit *hit)
{
    uint64_t end = hit->time.value;
    uint64_t start = hit->has_passed && hit->passed.value < end ? hit->passed.value : end;
    uint32_t row = choose_row(hits, start);
    if (row == ROWS_MAX) {
        row = row_free_first(hits);
        if (end < hits->rows[row].end)
            end = hits->rows[row].end;
        start = end;
    }
    hits->rows[row].end = end;
    add_event(hits, start, row, true, hit);
    add_event(hits, end, row, false, hit);
}

static int by_start(const void *left, const void *right)
{
    const struct span_hit *a = left, *b = right;
    uint64_t first = a->has_passed ? a->passed.value : a->time.value;
    uint64_t second = b->has_passed ? b->passed.value : b->time.value;
    return (first > second) - (first < second);
}

static int by_time(const void *left, const void *right)
{
    const struct hit_event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* The first packet with a time comes at the first branch, so the hit that a recording begins with
 * can be this much earlier than its first event. */
enum { BEGINNING_NS = 1000 };

/* Hits before the trace's beginning are left out. */
static void take_hits(struct hit_rows *hits, const struct session *session,
                      struct nanoseconds origin)
{
    hits->events = memory_allocate_zeroed(2 * session->hit_count * sizeof *hits->events);
    size_t count = 0;
    for (size_t i = 0; i < session->hit_count; i++) {
        const struct session_hit *hit = &session->hits[i];
        if (hit->time + BEGINNING_NS < origin.value)
            continue;
        bool passed = hit->passed >= origin.value && hit->passed <= hit->time;
        hits->hits[count++] = (struct span_hit){
            .time = {hit->time > origin.value ? hit->time - origin.value : 0},
            .passed = {passed ? hit->passed - origin.value : 0},
            .has_passed = passed,
            .has_argument = hit->has_argument,
            .argument = hit->argument,
            .address = hit->address,
            .pid = hit->pid,
            .tid = hit->tid,
        };
    }
    qsort(hits->hits, count, sizeof *hits->hits, by_start);
    for (size_t i = 0; i < count; i++)
        place(hits, &hits->hits[i]);
    qsort(hits->events, hits->event_count, sizeof *hits->events, by_time);
}

/* ---- as an overlay ---- */

static void add_tracks(const struct hit_rows *hits, const struct span_source *source,
                       struct span_overlay *overlay)
{
    uint32_t number = span_overlay_free_number(source, ROWS_MAX);
    for (uint32_t i = 0; i < hits->row_count; i++) {
        char name[ROW_NAME_SIZE] = "hits";
        if (i > 0)
            snprintf(name, ROW_NAME_SIZE, "hits %u", i + 1);
        *(struct span_track *)array_add(&overlay->tracks) = (struct span_track){
            .pid = number,
            .tid = number + i,
            .process_name = "Snapshot symbol hits",
            .thread_name = arena_copy_string(&overlay->memory, name),
        };
    }
}

static void add_span_events(const struct hit_rows *hits, const struct span_function *function,
                            uint32_t first_track, struct span_overlay *overlay)
{
    for (size_t i = 0; i < hits->event_count; i++) {
        const struct hit_event *event = &hits->events[i];
        *(struct span_event *)array_add(&overlay->events) = (struct span_event){
            .kind = event->enter ? SPAN_ENTER : SPAN_LEAVE,
            .track = first_track + event->row,
            .time = {event->time},
            .function = function,
            .hit = event->enter ? event->hit : NULL,
        };
    }
}

static const struct span_function *function_of_hits(const struct session *session,
                                                    struct span_functions *functions)
{
    char *name = memory_format("hit %s", session->trigger ? session->trigger : "trigger");
    const struct span_function *function = span_functions_get_special(functions, name);
    free(name);
    return function;
}

struct span_source *hit_spans(struct span_source *source, const struct session *session,
                              struct nanoseconds origin, struct span_functions *functions)
{
    if (session->hit_count == 0)
        return source;
    struct span_overlay overlay = span_overlay_new();
    struct hit_rows *hits = memory_allocate_zeroed(sizeof *hits);
    hits->hits = arena_allocate(&overlay.memory, session->hit_count * sizeof *hits->hits);
    take_hits(hits, session, origin);
    add_tracks(hits, source, &overlay);
    add_span_events(hits, function_of_hits(session, functions), (uint32_t)source->track_count,
                    &overlay);
    free(hits->events);
    free(hits);
    return span_overlay_open(source, &overlay, functions);
}
