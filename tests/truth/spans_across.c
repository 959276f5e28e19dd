#include "spans_across.h"

#include "base/memory.h"
#include "stack/timeline.h"
#include "stack/timeline_memory.h"

#include <stdlib.h>
#include <string.h>

struct open_span {
    struct nanoseconds begun;
    const struct span_function *function;
};

/* A track, while its spans go by. */
struct track {
    struct array open; /* struct open_span */
    size_t next;       /* loss that may concern it */
};

struct crossing {
    struct timeline *timeline;
    struct span_source *source;
    struct array *losses;
    struct track *tracks;
};

static struct nanoseconds source_time(const struct timeline *timeline, struct ticks ticks)
{
    return (struct nanoseconds){timeline_nanoseconds(timeline, ticks).value -
                                timeline_origin(timeline).value};
}

static bool is_alike(const struct open_span *span, const struct loss_spans *loss, size_t depth)
{
    return depth < loss->names.count &&
           strcmp(span->function->name, *(const char **)array_at(&loss->names, depth)) == 0;
}

/* All that happened up to the loss's end has been seen: what was open before it and is open still
 * went on across it. */
static void count_open(const struct crossing *crossing, const struct track *track,
                       struct loss_spans *loss)
{
    struct nanoseconds begin = source_time(crossing->timeline, loss->begin);
    size_t depth = 0;
    for (size_t i = 0; i < track->open.count; i++) {
        const struct open_span *span = array_at(&track->open, i);
        if (span->begun.value >= begin.value || span->function->special)
            continue;
        if (depth == loss->kept && is_alike(span, loss, depth))
            loss->kept++;
        else
            loss->invented++;
        depth++;
    }
}

/* Losses of this track that were over before `time`. */
static void pass_losses(const struct crossing *crossing, uint32_t index, struct nanoseconds time)
{
    const struct span_track *track = &crossing->source->tracks[index];
    struct track *state = &crossing->tracks[index];
    for (; state->next < crossing->losses->count; state->next++) {
        struct loss_spans *loss = array_at(crossing->losses, state->next);
        if (loss->pid != track->pid || loss->tid != track->tid)
            continue;
        if (source_time(crossing->timeline, loss->end).value >= time.value)
            return;
        count_open(crossing, state, loss);
    }
}

static void take_event(const struct crossing *crossing, const struct span_event *event)
{
    struct track *track = &crossing->tracks[event->track];
    pass_losses(crossing, event->track, event->time);
    if (event->kind == SPAN_ENTER)
        *(struct open_span *)array_add(&track->open) =
            (struct open_span){event->time, event->function};
    else if (event->kind == SPAN_LEAVE && track->open.count > 0)
        track->open.count--;
}

static bool walk_spans(struct crossing *crossing, struct error *error)
{
    struct span_source *source = crossing->source;
    struct span_event event;
    source->no_lines = true;
    crossing->tracks = memory_allocate_zeroed((source->track_count + 1) * sizeof(struct track));
    for (size_t i = 0; i < source->track_count; i++)
        crossing->tracks[i].open = array_of(sizeof(struct open_span));
    *error = (struct error){0};
    while (source->next(source, &event, error))
        take_event(crossing, &event);
    for (size_t i = 0; i < source->track_count; i++) {
        pass_losses(crossing, (uint32_t)i, (struct nanoseconds){UINT64_MAX});
        array_free(&crossing->tracks[i].open);
    }
    free(crossing->tracks);
    return error->code == ERROR_NONE;
}

bool spans_across(const char *path, struct array *losses, struct error *error)
{
    struct flow_options options = {.no_inlined = true, .cores = 1};
    struct crossing crossing = {.losses = losses};
    crossing.timeline = timeline_decode(path, &options, error);
    if (!crossing.timeline)
        return false;
    crossing.source = timeline_spans(crossing.timeline, error);
    bool walked = crossing.source && walk_spans(&crossing, error);
    if (crossing.source)
        crossing.source->close(crossing.source);
    timeline_free(crossing.timeline);
    return walked;
}
