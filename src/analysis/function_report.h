/* The table of functions (output/report/report_table.h) of an index, and the longest calls of a function.
 *
 * Called by `magic-trace report`. The table is what report_table() prints of the trace itself, but its
 * quantiles are exact.
 */
#ifndef MAGIC_TRACE_ANALYSIS_FUNCTION_REPORT_H
#define MAGIC_TRACE_ANALYSIS_FUNCTION_REPORT_H

#include "analysis/report_end.h"
#include "analysis/trace_moments.h"
#include "output/report/report_table.h"

#include <stdio.h>

/* Of the part between the moments. */
bool function_report_print(const struct trace_index *index, const struct trace_moments *moments,
                           const struct report_table_options *options, struct report_form_json json,
                           FILE *stream, struct error *error);

/* The longest calls of `function` (analysis/function_choice.h), options->top of them or ten, the longest
 * first. */
bool longest_calls_print(const struct trace_index *index, const char *function,
                         const struct trace_moments *moments,
                         const struct report_table_options *options, struct report_form_json json,
                         FILE *stream, struct error *error);

#endif
