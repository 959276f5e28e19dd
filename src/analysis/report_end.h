/* What the reports of an index have in common: their form, and their end.
 *
 * Called by call_tree.c, function_report.c and stack_report.c.
 */
#ifndef MAGIC_TRACE_ANALYSIS_REPORT_END_H
#define MAGIC_TRACE_ANALYSIS_REPORT_END_H

#include "index/trace_index.h"

#include <stdio.h>

/* Of JSON the size is `max_bytes` at most, or any when that is 0. */
struct report_form_json {
    bool is_json;
    size_t max_bytes;
};

/* Writes what is buffered. ERROR_IO: the report could not be written; ERROR_FORMAT: it is whole, but the trace that the
 * index was made of is damaged. */
bool report_end(const struct trace_index *index, FILE *stream, struct error *error);

#endif
