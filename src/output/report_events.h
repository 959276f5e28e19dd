/* What every report does with its input and its end: pull the events, with a progress line when
 * there are many and one function for all of a name, and say at the end whether all went well.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_EVENTS_H
#define MAGIC_TRACE_OUTPUT_REPORT_EVENTS_H

#include "base/error.h"
#include "output/same_name.h"
#include "stack/span.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report_events {
    struct span_source *source;
    struct same_name names;
    uint64_t count;     /* pulled so far */
    struct error ended; /* why the source ended; ERROR_NONE: all was read */
};

void report_events_init(struct report_events *events, struct span_source *source);

/* The next event of the source; false at its end or when it failed. */
bool report_events_next(struct report_events *events, struct span_event *event);

/* Flushes `stream`, frees `events`. False and `error` filled when the report could not be written
 * or the source had failed. */
bool report_events_finish(struct report_events *events, FILE *stream, struct error *error);

#endif
