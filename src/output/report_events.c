#include "output/report_events.h"

#include "base/log.h"

#include <errno.h>

/* Events between two looks at the progress line. */
static const uint64_t EVENTS_PER_LOOK = 1 << 16;

bool report_events_next(struct report_events *events, struct span_event *event)
{
    if (++events->count % EVENTS_PER_LOOK == 0)
        log_progress("Reading events", events->count, 0);
    if (events->source->next(events->source, event, &events->ended))
        return true;
    log_progress_end();
    return false;
}

bool report_events_finish(const struct report_events *events, FILE *stream, struct error *error)
{
    if (fflush(stream) != 0 || ferror(stream))
        return error_set_errno(error, ERROR_IO, errno, "cannot write the report");
    if (events->ended.code == ERROR_NONE)
        return true;
    if (error)
        *error = events->ended;
    return false;
}
