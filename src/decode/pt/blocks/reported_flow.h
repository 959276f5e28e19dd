/* Reports the steps of a control flow to an observer (flow_step.h).
 *
 * Called by control_flow.c and the decoder, only if there is an observer.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_REPORTED_FLOW_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_REPORTED_FLOW_H

#include "decode/flow_event.h"
#include "decode/flow_step.h"
#include "decode/pt/blocks/block_cache.h"

/* Whose steps, and to whom they are reported. */
struct reported_flow {
    const struct flow_observer *observer;
    const struct thread *thread; /* NULL: unknown */
    struct code_space *space;    /* of the thread's process; NULL: unknown */
    struct ticks time;           /* of the newest packet that has one */
};

/* A branch at `from`, of enum branch_kind, after which the code goes on at `next`, went to `ip`. */
void observe_branch(const struct reported_flow *flow, uint8_t branch_kind, uint64_t from,
                    uint64_t next, uint64_t ip);

/* `block` ran. */
void observe_block(const struct reported_flow *flow, const struct block *block);

/* A packet says that tracing begins at `ip`. Not called where it merely becomes known again: at the
 * beginning of a recording, after a loss or an error. */
void observe_start(const struct reported_flow *flow, uint64_t ip);

/* Reports events that are not branches: the end of tracing, interrupts, losses. */
void observe_event(const struct reported_flow *flow, const struct flow_event *event);

/* `offset`: of the packet, in its ring. */
void observe_error(const struct reported_flow *flow, enum decode_error error, uint64_t ip,
                   uint64_t offset);

#endif
