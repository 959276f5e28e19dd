/* The events of the exported source, one after the other, for all exporters: counts them, shows the
 * progress, and stops when writing has failed.
 */
#ifndef MAGIC_TRACE_OUTPUT_EXPORT_EXPORT_EVENTS_H
#define MAGIC_TRACE_OUTPUT_EXPORT_EXPORT_EVENTS_H

#include "output/block_writer.h"
#include "output/export/export.h"
#include "stack/spans/span.h"

struct export_events {
    struct span_source *source;
    const struct block_writer *out;
    struct export_summary *summary;
    const struct span_event *next, *end; /* at hand */
    struct span_event room;
    uint64_t next_look;
    bool began;
    struct nanoseconds first, last; /* times of the first event and of the newest */
    struct error ended;             /* why the source ended; ERROR_NONE: all was read */
};

void export_events_init(struct export_events *events, struct span_source *source,
                        const struct block_writer *out, struct export_summary *summary);

/* Takes more from the source; NULL at its end. */
const struct span_event *export_events_take(struct export_events *events);

/* The next event, valid until the next call; NULL at the end. */
static inline const struct span_event *export_events_next(struct export_events *events)
{
    const struct span_event *event =
        events->next < events->end ? events->next++ : export_events_take(events);
    if (!event)
        return NULL;
    events->last = event->time;
    events->summary->spans += event->kind == SPAN_ENTER;
    events->summary->instants += event->kind == SPAN_INSTANT;
    events->summary->counters += event->kind == SPAN_COUNTER;
    return event;
}

/* Records in the summary whether the source was damaged. False, and `error` filled, when it failed
 * otherwise. */
bool export_events_finish(const struct export_events *events, struct error *error);

/* The same for `ended`, why a source ended. */
bool export_source_ended(const struct error *ended, struct export_summary *summary,
                         struct error *error);

#endif
