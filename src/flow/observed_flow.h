/* Tells an observer the steps of a control flow (flow_step.h).
 *
 * Called by control_flow.c and the decoder, only when there is an observer.
 */
#ifndef MAGIC_TRACE_FLOW_OBSERVED_FLOW_H
#define MAGIC_TRACE_FLOW_OBSERVED_FLOW_H

#include "flow/control_flow.h"

/* The newest branch went to `ip`. */
void observe_branch(const struct control_flow *flow, uint64_t ip);

/* `block` ran. */
void observe_block(const struct control_flow *flow, const struct block *block);

/* What no branch tells: tracing begins and ends, interrupts, losses. */
void observe_event(const struct control_flow *flow, const struct flow_event *event);

/* `offset`: of the packet, in its ring. */
void observe_error(const struct control_flow *flow, enum decode_error error, uint64_t ip,
                   uint64_t offset);

#endif
