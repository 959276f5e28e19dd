/* The time line as an indented call tree, thread by thread, with the moment and the length of every
 * call.
 *
 * Memory: 40 to 60 bytes per line shown. Windows are closed intervals; a span is shown when any
 * part of it lies inside. Spans that are active when the window begins are its callers and keep
 * their true moment and length.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_REPORT_TREE_H
#define MAGIC_TRACE_OUTPUT_REPORT_REPORT_TREE_H

#include "base/error.h"
#include "output/report/trace_window.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads `source` to its end and prints, per thread, lines of
 *
 *           offset   duration  name
 *
 * with the moment since the beginning of the trace, names indented by depth, and words in brackets
 * where a beginning or an end was not seen or a call ended in another way than by returning.
 * ERROR_USAGE for a moment that makes no sense, ERROR_NOT_FOUND for a call that never happens. When
 * the source fails half way, the tree of what came before is still printed and the source's error
 * returned. */
bool report_tree(struct span_source *source, const struct report_tree_options *options,
                 FILE *stream, struct error *error);

/* The same as JSON (json_report.h) with a flat list of all calls, without `fold`: at most `max_bytes` long,
 * or of any size when that is 0. */
bool report_tree_json(struct span_source *source, const struct report_tree_options *options,
                      size_t max_bytes, FILE *stream, struct error *error);

#endif
