/* What the table says of counters: between which values each was.
 *
 * Called by report_table.c and, with what an index holds, by analysis/function_report.c.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_COUNTERS_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_COUNTERS_H

#include <stdint.h>
#include <stdio.h>

/* All zero: none was met. */
struct report_counters {
    struct report_counter *by_text; /* owned; in the order in which they were met */
};

void report_counters_free(struct report_counters *counters);

/* `text` names the counter, with its unit, and is borrowed; `count` values of it lie between `min` and `max`. Values that are not
 * finite are left out. */
void report_counters_add(struct report_counters *counters, const char *text, uint64_t count,
                         double min, double max);

/* A note, if there are any. */
void report_counters_print(const struct report_counters *counters, FILE *stream);

#endif
