/* Adds what was recorded besides the control flow to a recording's spans. Each kind of marks has a
 * track for each traced thread: a mark per sample of another event (cycles, branch-misses,
 * tracepoints), and one per value that the program wrote by PTWRITE, which may be another quantity
 * each time. The processor's frequency is a counter.
 *
 * Called by timeline_spans.c.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SAMPLE_SPANS_H
#define MAGIC_TRACE_STACK_SPANS_SAMPLE_SPANS_H

#include "decode/flow.h"
#include "stack/spans/span.h"
#include "stack/spans/span_functions.h"

/* Wraps `source`, whose time 0 is `origin` of perf's clock; close() closes both. `functions` must
 * outlive it, and `flow` too. Returns `source` itself if there are no samples of its threads. */
struct span_source *sample_spans(struct span_source *source, const struct flow *flow,
                                 struct nanoseconds origin, const struct span_functions *functions);

#endif
