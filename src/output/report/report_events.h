/* Input and end of every report: reads the events, with a progress line when there are many and one
 * function for all of a name, distinguishes hits of the trigger from calls, and reports at the end
 * whether all events were read.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_EVENTS_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_EVENTS_H

#include "base/array.h"
#include "base/error.h"
#include "output/same_name.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_events {
    struct span_source *source;
    struct same_name names;
    struct array hit_tracks; /* of bool, by track: hits have been met on it */
    size_t hit_track_count;
    uint64_t count;     /* pulled so far */
    struct error ended; /* why the source ended; ERROR_NONE: all was read */
};

void report_events_init(struct report_events *events, struct span_source *source);

/* The next event of the source; false at its end or when it failed. */
bool report_events_next(struct report_events *events, struct span_event *event);

/* Whether the event belongs to a hit of the trigger, which is no call. Hits have tracks of their
 * own. */
bool report_events_is_hit(const struct report_events *events, const struct span_event *event);

/* Flushes `stream`, frees `events`. False and `error` filled when the report could not be written
 * or the source had failed. */
bool report_events_finish(struct report_events *events, FILE *stream, struct error *error);

#endif
