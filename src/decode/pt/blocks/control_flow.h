/* From executed blocks to flow events.
 *
 * A decoder says which blocks ran, what interrupted them and when; this decides which of their
 * branches can change the call stack, and says so in flow events. A branch is complete only when
 * its target is known, that is when the next block begins, so the newest one is always held back.
 *
 * Called by the decoder, from its thread only. "Position" is as in event_batch.h.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_CONTROL_FLOW_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_CONTROL_FLOW_H

#include "decode/event_batch.h"
#include "decode/flow_step.h"
#include "decode/pt/blocks/block_cache.h"
#include "decode/pt/recorded_callchain.h"

/* Code that runs without a branch. A packet may point into the middle of a block, which then runs
 * in parts; but what it does to the stack only the whole tells. */
struct straight_code {
    uint64_t first;      /* its first instruction */
    uint64_t next;       /* the one behind what has run; 0: that was a branch */
    uint64_t begin, end; /* positions of what has run */
    size_t reported;     /* OCaml's traps in it */
};

struct control_flow {
    struct code_space *space; /* of the running thread's process; NULL: of nobody known */
    struct event_batch batch;
    uint64_t position; /* instructions executed so far */

    bool running;                   /* code is being executed and traced */
    struct function_bounds current; /* the function that runs; empty when unknown */
    uint64_t last_ip;               /* of the newest instruction executed; 0 unknown */

    struct flow_event branch; /* the newest branch; its target is not known yet */
    uint8_t branch_kind;      /* enum branch_kind */
    bool branch_direct;       /* its target is in its bytes */
    uint64_t branch_next;     /* the address behind it */
    uint64_t branch_position;
    bool transaction; /* what runs belongs to a TSX transaction */
    struct straight_code straight;

    struct recorded_callchain callers; /* of what runs behind the next or newest RESUME */
    bool resumed;                      /* there was a RESUME, ... */
    uint64_t resume_position; /* ... here; nothing has run since while `position` is this */

    const struct flow_observer *observer; /* NULL: none. Set after control_flow_init */
};

void control_flow_init(struct control_flow *flow);
void control_flow_free(struct control_flow *flow);

/* From here on `output`'s thread runs, in `space`. Delivers all that belongs to the thread before.
 */
void control_flow_switch_thread(struct control_flow *flow, struct thread_sink *output,
                                struct code_space *space);

/* Whether what runs next, at `ip`, is the rest of a block of which a part has run. */
bool control_flow_is_within(const struct control_flow *flow, uint64_t ip);

/* Packets say that it is `time` now. */
void control_flow_time(struct control_flow *flow, uint64_t position, struct ticks time);

/* The newest branch has its time from a packet of its own. */
void control_flow_branch_time_exact(struct control_flow *flow);

/* Control has arrived at `ip`: completes the newest branch. Needed only where no block follows that
 * begins there. */
void control_flow_arrive(struct control_flow *flow, uint64_t ip);

/* `block` ran, all of it. */
void control_flow_block(struct control_flow *flow, const struct block *block);

/* The stack pointer is `value` at the instruction that ended the last block; behind it, if that is
 * a branch. */
void control_flow_stack_pointer(struct control_flow *flow, uint64_t value);

/* A recorder's own packet, at this point of the flow. */
void control_flow_mnt(struct control_flow *flow, uint64_t payload);

/* Tracing starts again at `ip`. `exact`: the time given last belongs to this very event. */
void control_flow_resume(struct control_flow *flow, uint64_t ip, bool exact);

/* Tracing stopped at the newest branch: a syscall, or a branch out of what is traced. */
void control_flow_disabled(struct control_flow *flow, bool exact);

/* Tracing stopped before the instruction at `ip`: an interrupt, a fault, a signal. */
void control_flow_interrupted(struct control_flow *flow, uint64_t ip, bool exact);

/* Before the instruction at `from` control went to `to`, and tracing goes on there: `kind` is
 * FLOW_INTERRUPT or FLOW_ABORT. */
void control_flow_diverted(struct control_flow *flow, enum flow_kind kind, uint64_t from,
                           uint64_t to, bool exact);

/* A transaction failed at `from`, and its fallback at `to` (0: not known) is not traced. */
void control_flow_aborted_out(struct control_flow *flow, uint64_t from, uint64_t to, bool exact);

/* Tracing stopped for a reason that leaves the stack as it is. */
void control_flow_stop(struct control_flow *flow);

/* The data ends, or another thread's begins. Nothing says that tracing stopped: it is the same
 * event, but no step. */
void control_flow_end(struct control_flow *flow);

/* What ran since the newest event is not known. `ip`: where that was noticed, 0 unknown; `code`:
 * the decoder's. */
void control_flow_gap(struct control_flow *flow, enum flow_gap gap, uint64_t ip, uint8_t code);

#endif
