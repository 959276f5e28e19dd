#include "stack/spans/span_overlay.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct overlay_source {
    struct span_source source; /* first: the consumer's view */
    struct span_source *wrapped;
    struct span_event next; /* of `wrapped` */
    bool has_next;
    bool finished;         /* `wrapped` has ended */
    struct error ended_by; /* the reason; ERROR_NONE: it was read to its end */
    struct span_overlay overlay;
    struct span_track *tracks; /* owned: those of `wrapped`, then those of the overlay */
    size_t given;              /* events of the overlay that were passed on */
};

struct span_overlay span_overlay_new(void)
{
    return (struct span_overlay){
        .tracks = array_of(sizeof(struct span_track)),
        .events = array_of(sizeof(struct span_event)),
    };
}

uint32_t span_overlay_free_number(const struct span_source *source, uint32_t count)
{
    uint32_t number = 1;
    for (size_t i = 0; i < source->track_count; i++) {
        const struct span_track *track = &source->tracks[i];
        uint32_t larger = track->pid > track->tid ? track->pid : track->tid;
        if (larger >= number && larger < UINT32_MAX - count)
            number = larger + 1;
    }
    return number;
}

static void join_tracks(struct overlay_source *source)
{
    const struct span_source *wrapped = source->wrapped;
    const struct array *added = &source->overlay.tracks;
    size_t count = wrapped->track_count;
    source->tracks = memory_allocate((count + added->count) * sizeof *source->tracks);
    if (count > 0)
        memcpy(source->tracks, wrapped->tracks, count * sizeof *source->tracks);
    if (added->count > 0)
        memcpy(source->tracks + count, added->elements, added->count * sizeof *source->tracks);
    source->source.tracks = source->tracks;
    source->source.track_count = count + added->count;
}

static void look_ahead(struct overlay_source *source)
{
    if (source->has_next || source->finished)
        return;
    source->wrapped->no_lines = source->source.no_lines;
    source->has_next = source->wrapped->next(source->wrapped, &source->next, &source->ended_by);
    source->finished = !source->has_next;
    source->source.function_count = source->wrapped->function_count;
}

/* The overlay's next event, if it is not later than that of `wrapped`; else NULL. */
static const struct span_event *event_in_turn(const struct overlay_source *source)
{
    const struct array *events = &source->overlay.events;
    if (source->given == events->count || source->ended_by.code != ERROR_NONE)
        return NULL;
    const struct span_event *event = array_at(events, source->given);
    return source->has_next && event->time.value > source->next.time.value ? NULL : event;
}

static bool next(struct span_source *opened, struct span_event *event, struct error *error)
{
    struct overlay_source *source = opened->context;
    look_ahead(source);
    const struct span_event *own = event_in_turn(source);
    if (own) {
        *event = *own;
        source->given++;
    } else if (source->has_next) {
        *event = source->next;
        source->has_next = false;
    } else {
        if (error)
            *error = source->ended_by;
        return false;
    }
    return true;
}

static void close_source(struct span_source *opened)
{
    struct overlay_source *source = opened->context;
    source->wrapped->close(source->wrapped);
    array_free(&source->overlay.tracks);
    array_free(&source->overlay.events);
    arena_free(&source->overlay.memory);
    free(source->tracks);
    free(source);
}

struct span_source *span_overlay_open(struct span_source *wrapped, struct span_overlay *overlay,
                                      const struct span_functions *functions)
{
    struct overlay_source *source = memory_allocate_zeroed(sizeof *source);
    source->source = span_source_around(wrapped, source, next, close_source);
    source->source.function_count = functions->count;
    source->wrapped = wrapped;
    source->overlay = *overlay;
    join_tracks(source);
    return &source->source;
}
