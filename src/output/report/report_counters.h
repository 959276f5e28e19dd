/* What the table says of counters: between which values each was.
 *
 * Called by report_table.c.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_COUNTERS_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_COUNTERS_H

#include "stack/spans/span.h"

#include <stdio.h>

/* All zero: none was met. */
struct report_counters {
    struct report_counter *by_text; /* owned; in the order in which they were met */
};

void report_counters_free(struct report_counters *counters);

/* `event` is a SPAN_COUNTER; its text is borrowed. */
void report_counters_add(struct report_counters *counters, const struct span_event *event);

/* A note, if there are any. */
void report_counters_print(const struct report_counters *counters, FILE *stream);

#endif
