/* A window of a trace: a span source that gives what lies between two moments of another.
 *
 * Used by the exporters. The window is a closed interval. What is open when it begins is entered
 * there (SPAN_START_INFERRED), what is open when it ends is left there (SPAN_END_FILTER), so that
 * times add up; time 0 stays where it was. Counters begin with the value that they have had. In one
 * pass, which ends with the window; what is kept is the open spans.
 */
#ifndef MAGIC_TRACE_OUTPUT_REPORT_WINDOW_SPANS_H
#define MAGIC_TRACE_OUTPUT_REPORT_WINDOW_SPANS_H

#include "output/report/trace_window.h"
#include "stack/spans/span.h"

/* Wraps `source`; close() closes both. The moments are as report's: `from`, `to` or `around` of
 * `moments`, which must live as long; a moment that never comes is an error at the window's end.
 * NULL, and `source` still the caller's, for a moment that makes no sense. */
struct span_source *window_spans(struct span_source *source,
                                 const struct report_tree_options *moments, struct error *error);

/* The beginning of the whole trace, once an event was read; `source` comes from window_spans(). */
struct nanoseconds window_spans_origin(const struct span_source *source);

#endif
