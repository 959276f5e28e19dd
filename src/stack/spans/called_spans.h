/* Leaves out inlined functions: -no-inlined.
 *
 * A span source that wraps another and shows calls alone. Used for trace files; of recordings
 * inlined functions are not even looked for (flow_options.no_inlined).
 */
#ifndef MAGIC_TRACE_STACK_SPANS_CALLED_SPANS_H
#define MAGIC_TRACE_STACK_SPANS_CALLED_SPANS_H

#include "stack/spans/span.h"

/* Its close() closes `source` too. */
struct span_source *called_spans(struct span_source *source);

#endif
