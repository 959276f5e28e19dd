/* The table of functions: how often each was called and where the time went.
 *
 *     calls      total       self  self%        min     median        p99        max  its call  function
 *
 *   total        from enter to leave, callees included; of a recursive function only the outermost
 *                call counts, so that no nanosecond counts twice in a thread. Threads add up.
 *   self         total without callees.
 *   on-cpu       total without the times in which the thread was not running. The column is there
 *                where the trace has such times.
 *   min to max   of single calls whose beginning and end were seen, recursive ones included; "-"
 *                when no call was seen whole. median and p99 are exact up to 64 calls and below 256 ns;
 *                others come from a histogram, are within 0.4 % (output/report/durations.h), and are
 *                written "~1.23 ms".
 *   its call     the number of the longest call, by which -around and explain find it: "#804".
 *
 * Of samples the first column is called spans, and there is no min to max: what samples one after the
 * other have in common is no call.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_TABLE_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_TABLE_H

#include "base/error.h"
#include "output/report/report_rows.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Reads `source` to its end. When the source fails half way, the table of what came before is still
 * printed and the source's error returned. */
bool report_table(struct span_source *source, const struct report_table_options *options,
                  FILE *stream, struct error *error);

/* The same as JSON (json_report.h), at most `max_bytes` long, or of any size when that is 0. */
bool report_table_json(struct span_source *source, const struct report_table_options *options,
                       size_t max_bytes, FILE *stream, struct error *error);

#endif
