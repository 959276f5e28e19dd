#include "stack/hit_spans.h"

#include "base/array.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More tracks than that nobody reads; further hits are shown without their length, and not before
 * the track that is free first. */
enum { LANES_MAX = 64, LANE_NAME_SIZE = 16 };

struct lane {
    uint64_t end; /* of the last hit on it */
    char name[LANE_NAME_SIZE];
};

struct hit_event {
    uint64_t time;
    uint32_t order; /* where times are equal */
    uint32_t lane;
    bool enter;
    const struct span_hit *hit;
};

struct hit_source {
    struct span_source source; /* first: what the consumer sees */
    struct span_source *wrapped;
    struct span_event next; /* of `wrapped` */
    bool has_next;
    bool finished;         /* `wrapped` has no more */
    struct error ended_by; /* why; ERROR_NONE: it was read to its end */
    const struct span_function *function;
    struct span_hit *hits;     /* owned */
    struct hit_event *events;  /* owned; by time */
    struct span_track *tracks; /* owned: those of `wrapped`, then the lanes */
    size_t event_count, given;
    struct lane lanes[LANES_MAX];
    uint32_t lane_count;
};

/* ---- lanes ---- */

static uint32_t choose_lane(struct hit_source *hits, uint64_t start)
{
    for (uint32_t i = 0; i < hits->lane_count; i++)
        if (hits->lanes[i].end <= start)
            return i;
    return hits->lane_count < LANES_MAX ? hits->lane_count++ : LANES_MAX;
}

static uint32_t lane_free_first(const struct hit_source *hits)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < hits->lane_count; i++)
        if (hits->lanes[i].end < hits->lanes[first].end)
            first = i;
    return first;
}

static void add_event(struct hit_source *hits, uint64_t time, uint32_t lane, bool enter,
                      const struct span_hit *hit)
{
    uint32_t order = (uint32_t)hits->event_count;
    hits->events[hits->event_count++] = (struct hit_event){time, order, lane, enter, hit};
}

static void place(struct hit_source *hits, const struct span_hit *hit)
{
    uint64_t end = hit->time.value;
    uint64_t start = hit->has_passed && hit->passed.value < end ? hit->passed.value : end;
    uint32_t lane = choose_lane(hits, start);
    if (lane == LANES_MAX) {
        lane = lane_free_first(hits);
        if (end < hits->lanes[lane].end)
            end = hits->lanes[lane].end;
        start = end;
    }
    hits->lanes[lane].end = end;
    add_event(hits, start, lane, true, hit);
    add_event(hits, end, lane, false, hit);
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

/* Packets tell the time at the first branch only, so the hit that a recording begins with can lie
 * that much before its first event. */
enum { BEGINNING_NS = 1000 };

/* What came before the trace's beginning is not in it. */
static void take_hits(struct hit_source *hits, const struct session *session,
                      struct nanoseconds origin)
{
    hits->hits = memory_allocate_zeroed(session->hit_count * sizeof *hits->hits);
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

/* ---- tracks ---- */

/* A number that no process or thread of the recording has. */
static uint32_t free_number(const struct span_source *source)
{
    uint32_t number = 1;
    for (size_t i = 0; i < source->track_count; i++) {
        const struct span_track *track = &source->tracks[i];
        uint32_t larger = track->pid > track->tid ? track->pid : track->tid;
        if (larger >= number && larger < UINT32_MAX - LANES_MAX)
            number = larger + 1;
    }
    return number;
}

static void add_tracks(struct hit_source *hits)
{
    const struct span_source *wrapped = hits->wrapped;
    size_t count = wrapped->track_count;
    uint32_t number = free_number(wrapped);
    hits->tracks = memory_allocate((count + hits->lane_count) * sizeof *hits->tracks);
    memcpy(hits->tracks, wrapped->tracks, count * sizeof *hits->tracks);
    for (uint32_t i = 0; i < hits->lane_count; i++) {
        char *name = hits->lanes[i].name;
        if (i == 0)
            snprintf(name, LANE_NAME_SIZE, "hits");
        else
            snprintf(name, LANE_NAME_SIZE, "hits %u", i + 1);
        hits->tracks[count + i] = (struct span_track){
            .pid = number,
            .tid = number + i,
            .process_name = "Snapshot symbol hits",
            .thread_name = name,
        };
    }
    hits->source.tracks = hits->tracks;
    hits->source.track_count = count + hits->lane_count;
}

/* ---- events ---- */

static void give_hit(struct hit_source *hits, struct span_event *event)
{
    const struct hit_event *given = &hits->events[hits->given++];
    *event = (struct span_event){
        .kind = given->enter ? SPAN_ENTER : SPAN_LEAVE,
        .track = (uint32_t)hits->wrapped->track_count + given->lane,
        .time = {given->time},
        .function = hits->function,
        .hit = given->enter ? given->hit : NULL,
    };
}

static void look_ahead(struct hit_source *hits)
{
    if (hits->has_next || hits->finished)
        return;
    hits->wrapped->no_lines = hits->source.no_lines;
    hits->has_next = hits->wrapped->next(hits->wrapped, &hits->next, &hits->ended_by);
    hits->finished = !hits->has_next;
    hits->source.function_count = hits->wrapped->function_count;
}

/* At equal times the hit comes first: the call that it happened at follows. */
static bool next(struct span_source *source, struct span_event *event, struct error *error)
{
    struct hit_source *hits = source->context;
    look_ahead(hits);
    bool hit = hits->given < hits->event_count && hits->ended_by.code == ERROR_NONE &&
               (!hits->has_next || hits->events[hits->given].time <= hits->next.time.value);
    if (hit) {
        give_hit(hits, event);
    } else if (hits->has_next) {
        *event = hits->next;
        hits->has_next = false;
    } else {
        if (error)
            *error = hits->ended_by;
        return false;
    }
    return true;
}

static void close_hits(struct span_source *source)
{
    struct hit_source *hits = source->context;
    hits->wrapped->close(hits->wrapped);
    free(hits->hits);
    free(hits->events);
    free(hits->tracks);
    free(hits);
}

struct span_source *hit_spans(struct span_source *source, const struct session *session,
                              struct nanoseconds origin, struct span_functions *functions)
{
    if (session->hit_count == 0)
        return source;
    struct hit_source *hits = memory_allocate_zeroed(sizeof *hits);
    char *name = memory_format("hit %s", session->trigger ? session->trigger : "trigger");
    hits->function = span_functions_get_special(functions, name);
    free(name);
    hits->source = *source;
    hits->source.function_count = functions->count;
    hits->source.context = hits;
    hits->source.next = next;
    hits->source.close = close_hits;
    hits->wrapped = source;
    take_hits(hits, session, origin);
    add_tracks(hits);
    return &hits->source;
}
