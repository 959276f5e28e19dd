/* The tree report (output/report/report_tree.h), of an index: a part of a long trace costs what that part
 * is long, and little memory.
 *
 * Called by `magic-trace report`. It prints what report_tree() prints of the trace itself.
 */
#ifndef MAGIC_TRACE_ANALYSIS_CALL_TREE_H
#define MAGIC_TRACE_ANALYSIS_CALL_TREE_H

#include "analysis/trace_moments.h"

#include <stdio.h>

/* Of the options `fold`, which takes 100 bytes a line, and `short_names` alone. */
bool call_tree_print(const struct trace_index *index, const struct trace_moments *moments,
                     const struct report_tree_options *options, FILE *stream, struct error *error);

/* At most `max_bytes` long, or of any size when that is 0. */
bool call_tree_print_json(const struct trace_index *index, const struct trace_moments *moments,
                          size_t max_bytes, FILE *stream, struct error *error);

#endif
