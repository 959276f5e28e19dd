/* Adds what was recorded beside the control flow to a recording's spans, each kind on a track of
 * each thread that was traced: a mark per sample of another event (cycles, branch-misses,
 * tracepoints), one per value that the program wrote by PTWRITE, and one where the processor's
 * frequency changes.
 *
 * Called by timeline_spans.c.
 */
#ifndef MAGIC_TRACE_STACK_SAMPLE_SPANS_H
#define MAGIC_TRACE_STACK_SAMPLE_SPANS_H

#include "flow/flow.h"
#include "stack/span.h"
#include "stack/span_functions.h"

/* Wraps `source`, whose time 0 is `origin` of perf's clock; close() closes both. `functions` must
 * outlive it, and `flow` too. Returns `source` itself when there are no samples of its threads. */
struct span_source *sample_spans(struct span_source *source, const struct flow *flow,
                                 struct nanoseconds origin, const struct span_functions *functions);

#endif
