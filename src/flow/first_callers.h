/* The calls in progress where a ring's packets begin, as its recorder told them behind the first
 * PSB (packet/told_calls.h).
 *
 * perf skips these packets, so perf_decoder.c reads the few at the beginning itself. What is told
 * behind a later PSB is of use only where packets before it could not be decoded; perf does not say
 * which PSB it goes on from then.
 */
#ifndef MAGIC_TRACE_FLOW_FIRST_CALLERS_H
#define MAGIC_TRACE_FLOW_FIRST_CALLERS_H

#include "flow/control_flow.h"
#include "flow/trace_stream.h"

/* Nothing of the stream was decoded yet. */
void first_callers_tell(const struct trace_stream *stream, struct control_flow *flow);

#endif
