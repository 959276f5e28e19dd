#include "stack/spans/open_spans.h"

#include "base/memory.h"

#include <stdlib.h>

void open_spans_init(struct open_spans *spans, size_t track_count)
{
    *spans = (struct open_spans){.track_count = track_count};
    spans->of_track = memory_allocate_zeroed((track_count + 1) * sizeof *spans->of_track);
    for (size_t i = 0; i < track_count; i++)
        spans->of_track[i] = array_of(sizeof(struct span_event));
}

void open_spans_free(struct open_spans *spans)
{
    for (size_t i = 0; i < spans->track_count; i++)
        array_free(&spans->of_track[i]);
    free(spans->of_track);
}

void open_spans_keep(struct open_spans *spans, const struct span_event *event)
{
    struct array *open = &spans->of_track[event->track];
    if (event->kind == SPAN_ENTER)
        *(struct span_event *)array_add(open) = *event;
    else if (event->kind == SPAN_LEAVE && open->count > 0)
        open->count--;
}

void open_spans_walk(struct open_spans *spans)
{
    spans->track = spans->depth = 0;
}

/* The track that the walk is in; NULL at its end. */
static const struct array *walked(struct open_spans *spans)
{
    for (; spans->track < spans->track_count; spans->track++, spans->depth = 0)
        if (spans->depth < spans->of_track[spans->track].count)
            return &spans->of_track[spans->track];
    return NULL;
}

bool open_spans_enter(struct open_spans *spans, struct nanoseconds time, struct span_event *event)
{
    const struct array *open = walked(spans);
    if (!open)
        return false;
    *event = *(struct span_event *)array_at(open, spans->depth++);
    event->time = time;
    event->flags |= SPAN_START_INFERRED;
    event->stack = 0;
    return true;
}

bool open_spans_leave(struct open_spans *spans, struct nanoseconds time, struct span_event *event)
{
    const struct array *open = walked(spans);
    if (!open)
        return false;
    const struct span_event *entered = array_at(open, open->count - 1 - spans->depth++);
    *event = (struct span_event){
        .kind = SPAN_LEAVE,
        .track = entered->track,
        .time = time,
        .function = entered->function,
        .flags = SPAN_END_INFERRED,
        .end = SPAN_END_FILTER,
    };
    return true;
}
