#include "output/report_events.h"

#include "base/log.h"

#include <errno.h>

/* Events between two looks at the progress line. */
static const uint64_t EVENTS_PER_LOOK = 1 << 16;

void report_events_init(struct report_events *events, struct span_source *source)
{
    *events = (struct report_events){.source = source};
    same_name_init(&events->names);
}

bool report_events_next(struct report_events *events, struct span_event *event)
{
    if (++events->count % EVENTS_PER_LOOK == 0)
        log_progress("Reading events", events->count, 0);
    if (events->source->next(events->source, event, &events->ended)) {
        if (event->kind != SPAN_INSTANT)
            event->function = same_name_first(&events->names, event->function);
        return true;
    }
    log_progress_end();
    return false;
}

bool report_events_finish(struct report_events *events, FILE *stream, struct error *error)
{
    same_name_free(&events->names);
    if (fflush(stream) != 0 || ferror(stream))
        return error_set_errno(error, ERROR_IO, errno, "cannot write the report");
    if (events->ended.code == ERROR_NONE)
        return true;
    if (error)
        *error = events->ended;
    return false;
}
