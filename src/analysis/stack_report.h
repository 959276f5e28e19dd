/* The stacks of a part of a trace with the time in each, by its index: what report_folded() prints of a whole one.
 *
 * Called by `magic-trace report -folded` with -from, -to, -around or -thread. Memory grows with the stacks of a thread
 * that differ.
 */
#ifndef MAGIC_TRACE_ANALYSIS_STACK_REPORT_H
#define MAGIC_TRACE_ANALYSIS_STACK_REPORT_H

#include "analysis/report_end.h"
#include "analysis/trace_moments.h"

/* Thread by thread, callers before what they call. `wall`: with the time in which threads were not running. */
bool stack_report_print(const struct trace_index *index, const struct trace_moments *moments,
                        bool wall, struct report_form_json json, FILE *stream, struct error *error);

#endif
