/* Tells an observer the steps of a control flow (flow_step.h).
 *
 * Called by control_flow.c and the decoder, only when there is an observer.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_REPORTED_FLOW_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_REPORTED_FLOW_H

#include "decode/pt/blocks/control_flow.h"

/* The newest branch went to `ip`. */
void observe_branch(const struct control_flow *flow, uint64_t ip);

/* `block` ran. */
void observe_block(const struct control_flow *flow, const struct block *block);

/* A packet says that tracing begins at `ip`. Not told where it only goes on to be known: where a
 * recording begins, behind a loss or an error. */
void observe_start(const struct control_flow *flow, uint64_t ip);

/* What no branch tells: tracing ends, interrupts, losses. */
void observe_event(const struct control_flow *flow, const struct flow_event *event);

/* `offset`: of the packet, in its ring. */
void observe_error(const struct control_flow *flow, enum decode_error error, uint64_t ip,
                   uint64_t offset);

#endif
