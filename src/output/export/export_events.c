#include "output/export/export_events.h"

#include "base/log.h"

/* Spans between two looks at the progress line and at whether the disk is full. */
static const uint64_t SPANS_PER_LOOK = 1 << 16;

void export_events_init(struct export_events *events, struct span_source *source,
                        const struct block_writer *out, struct export_summary *summary)
{
    *events = (struct export_events){.source = source, .out = out, .summary = summary};
}

const struct span_event *export_events_take(struct export_events *events)
{
    uint64_t spans = events->summary->spans;
    if (spans >= events->next_look) {
        events->next_look = spans + SPANS_PER_LOOK;
        if (block_writer_failed(events->out))
            return NULL; /* block_writer_finish has the reason */
        log_progress("Exporting", spans, 0);
    }
    size_t count = span_source_take(events->source, &events->room, &events->next, &events->ended);
    events->end = events->next + count;
    if (count == 0)
        return NULL;
    if (!events->began)
        events->first = events->next->time;
    events->began = true;
    return events->next++;
}

bool export_source_ended(const struct error *ended, struct export_summary *summary,
                         struct error *error)
{
    if (ended->code == ERROR_NONE)
        return true;
    if (ended->code == ERROR_FORMAT)
        summary->damage = *ended;
    else if (error)
        *error = *ended;
    return ended->code == ERROR_FORMAT;
}

bool export_events_finish(const struct export_events *events, struct error *error)
{
    log_progress_end();
    return export_source_ended(&events->ended, events->summary, error);
}
