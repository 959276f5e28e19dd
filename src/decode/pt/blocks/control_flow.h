/* From executed blocks to flow events.
 *
 * A decoder reports which blocks ran, what interrupted them and when. This module makes flow events
 * of those branches that can change the call stack. A branch is complete only when its target is
 * known, that is when the next block begins, so the newest one is always held back.
 *
 * Called by the decoder, from its thread only. "Position" is as in event_batch.h.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_CONTROL_FLOW_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_CONTROL_FLOW_H

#include "decode/event_batch.h"
#include "decode/flow_step.h"
#include "decode/pt/blocks/block_cache.h"
#include "decode/pt/blocks/reported_flow.h"
#include "decode/pt/recorded_callchain.h"

/* Code that runs without a branch. A packet may point into the middle of a block, which then runs
 * in parts; what it does to the stack is read from the whole. */
struct straight_code {
    uint64_t first;      /* its first instruction */
    uint64_t next;       /* the one after the executed part; 0: that ended in a branch */
    uint64_t begin, end; /* positions of the executed part */
    size_t reported;     /* OCaml traps that were emitted */
};

struct control_flow {
    struct code_space *space; /* of the running thread's process; NULL: unknown */
    struct event_batch batch;
    uint64_t position; /* instructions executed so far */

    bool running;                   /* code is being executed and traced */
    struct function_bounds current; /* the function that runs; empty if unknown */
    uint64_t last_ip;               /* of the newest instruction executed; 0 unknown */
    inlined_id inlined; /* that instruction belongs to; of functions with inlined ones */

    struct flow_event branch; /* the newest branch; its target is not known yet */
    uint8_t branch_kind;      /* enum branch_kind */
    bool branch_direct;       /* its target is in its bytes */
    uint64_t branch_next;     /* the address after it */
    uint64_t branch_position;
    bool transaction; /* the code that runs belongs to a TSX transaction */
    struct straight_code straight;

    struct recorded_callchain callers; /* of the code that runs after the next or newest RESUME */
    bool resumed;                      /* there was a RESUME ... */
    uint64_t resume_position; /* ... at this position; nothing has run since while `position`
                               * equals it */

    const struct flow_observer *observer; /* NULL: none. Set after control_flow_init */
};

/* For reporting to flow->observer. */
static inline struct reported_flow control_flow_reported(const struct control_flow *flow)
{
    const struct thread_sink *output = flow->batch.output;
    return (struct reported_flow){flow->observer, output ? output->thread : NULL, flow->space,
                                  flow->batch.anchor_time};
}

void control_flow_init(struct control_flow *flow);
void control_flow_free(struct control_flow *flow);

/* From here on the thread of `output` runs, in `space`. Passes on all events of the thread before.
 */
void control_flow_switch_thread(struct control_flow *flow, struct thread_sink *output,
                                struct code_space *space);

/* Whether what runs next, at `ip`, is the rest of a block of which a part has run. */
bool control_flow_is_within(const struct control_flow *flow, uint64_t ip);

/* A PSB segment begins at `ip`, in 64-bit code of a known space: what leads there without a branch has run in the one before, with
 * what it did to the stack. */
void control_flow_begin_within(struct control_flow *flow, uint64_t ip);

/* The time is `time` after `position` instructions. */
void control_flow_time(struct control_flow *flow, uint64_t position, struct ticks time);

/* The newest branch has its time from a packet of its own. */
void control_flow_branch_time_exact(struct control_flow *flow);

/* Control has arrived at `ip`: completes the newest branch. Needed only if no block follows that
 * begins there. */
void control_flow_arrive(struct control_flow *flow, uint64_t ip);

/* `block` ran, all of it. */
void control_flow_block(struct control_flow *flow, const struct block *block);

/* The stack pointer is `value` at the instruction that ended the last block; after it, if that is a
 * branch. */
void control_flow_stack_pointer(struct control_flow *flow, uint64_t value);

/* A word of the values of the call that runs, at the instruction at `ip`, at which control has arrived. */
void control_flow_call_value(struct control_flow *flow, uint64_t ip, uint64_t value);
/* The head of a group of them (packet/call_values_head.h). */
void control_flow_call_values(struct control_flow *flow, uint64_t ip, uint32_t head);

/* Takes an MNT packet, which only our recorder writes, at this point of the flow. */
void control_flow_mnt(struct control_flow *flow, uint64_t payload);

/* Whether those of MNT packets belong to the place that a PTWRITE packet comes to, and control has arrived there. */
bool control_flow_has_callers(const struct control_flow *flow);
void control_flow_callers(struct control_flow *flow);

/* Tracing starts again at `ip`. `exact`: a packet gave the time of this very event. */
void control_flow_resume(struct control_flow *flow, uint64_t ip, bool exact);

/* Tracing stopped at the newest branch: a system call, or a branch out of the traced code, to `to`; 0: unknown. A return out of it is an
 * event of its own, before the end. */
void control_flow_disabled(struct control_flow *flow, uint64_t to, bool exact);

/* Tracing stopped before the instruction at `ip`: an interrupt, a fault, a signal. */
void control_flow_interrupted(struct control_flow *flow, uint64_t ip, bool exact);

/* Before the instruction at `from` control went to `to`, and tracing continues there: `kind` is
 * FLOW_INTERRUPT or FLOW_ABORT. */
void control_flow_diverted(struct control_flow *flow, enum flow_kind kind, uint64_t from,
                           uint64_t to, bool exact);

/* A transaction failed at `from`, and its fallback at `to` (0: unknown) is not traced. */
void control_flow_aborted_out(struct control_flow *flow, uint64_t from, uint64_t to, bool exact);

/* Tracing stopped for a reason that does not change the stack. */
void control_flow_stop(struct control_flow *flow);

/* The data end, or those of another thread begin. No packet says that tracing stopped: the event is
 * that of a stop, but no step is reported. */
void control_flow_end(struct control_flow *flow);

/* The code that ran since the newest event is unknown. `ip`: where that was noticed, 0: unknown;
 * `code`: the decoder's error code. */
void control_flow_gap(struct control_flow *flow, enum flow_gap gap, uint64_t ip, uint8_t code);

#endif
