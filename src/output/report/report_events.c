#include "output/report/report_events.h"

#include "base/log.h"

#include <errno.h>

/* Events between two looks at the progress line. */
static const uint64_t EVENTS_PER_LOOK = 1 << 16;

void report_events_init(struct report_events *events, struct span_source *source)
{
    *events = (struct report_events){.source = source};
    events->hit_tracks = array_of(sizeof(bool));
    same_name_init(&events->names);
}

static void note_hit(struct report_events *events, uint32_t track)
{
    while (events->hit_tracks.count <= track)
        array_add(&events->hit_tracks);
    bool *has_hits = array_at(&events->hit_tracks, track);
    events->hit_track_count += !*has_hits;
    *has_hits = true;
}

bool report_events_is_hit(const struct report_events *events, const struct span_event *event)
{
    return event->track < events->hit_tracks.count &&
           *(const bool *)array_at(&events->hit_tracks, event->track);
}

bool report_events_next(struct report_events *events, struct span_event *event)
{
    if (++events->count % EVENTS_PER_LOOK == 0)
        log_progress("Reading events", events->count, 0);
    if (events->source->next(events->source, event, &events->ended)) {
        if (event->kind == SPAN_ENTER || event->kind == SPAN_LEAVE)
            event->function = same_name_first(&events->names, event->function);
        if (event->hit)
            note_hit(events, event->track);
        return true;
    }
    log_progress_end();
    return false;
}

bool report_events_finish(struct report_events *events, FILE *stream, struct error *error)
{
    same_name_free(&events->names);
    array_free(&events->hit_tracks);
    if (fflush(stream) != 0 || ferror(stream))
        return error_set_errno(error, ERROR_IO, errno, "cannot write the report");
    if (events->ended.code == ERROR_NONE)
        return true;
    if (error)
        *error = events->ended;
    return false;
}
