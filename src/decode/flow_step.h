/* Every step of a thread's control flow, one by one, for comparing decoders.
 *
 * Flow events omit what call stacks do not need; steps omit nothing: each executed instruction,
 * each branch with its destination, each error with the packet at which it was noticed. A decoder
 * with an observer runs on one core, and takes the slow path only unless `repeated` is set, so it is
 * many times slower.
 * Reported by flow_steps (flow.h) to `dump`, `decode -stats` and src/counts/.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_STEP_H
#define MAGIC_TRACE_DECODE_FLOW_STEP_H

#include "decode/decode_error.h"
#include "decode/pt/blocks/code_space.h"

enum flow_step_kind {
    /* Branches. */
    STEP_TAKEN,     /* a conditional jump that went to its target, ... */
    STEP_NOT_TAKEN, /* ... that was not taken: `to` is the next instruction */
    STEP_JUMP,
    STEP_CALL,
    STEP_RETURN,
    STEP_FAR_CALL, /* syscall, sysenter, int, far call */
    STEP_FAR_RETURN,
    STEP_FAR_JUMP,
    STEP_INTERRUPT, /* before the instruction at `from` */
    STEP_ABORT,     /* of a transaction, likewise */
    /* As packets say: not where the data begin or end in the middle of execution. */
    STEP_START, /* tracing began; `from` is unknown (0) */
    STEP_END,   /* tracing ended after or before `from`; `to` is unknown (0) */
    /* Others. */
    STEP_INSTRUCTION, /* the one at `from` was executed */
    STEP_BLOCK,       /* the instructions from `from` up to, not including, `to` were executed */
    STEP_OVERFLOW,    /* the processor dropped packets */
    STEP_LOST,        /* packets were lost after the processor wrote them */
    STEP_ERROR,       /* noticed at `from`, 0: unknown */
    STEP_KINDS,
};

struct flow_step {
    const struct thread *thread; /* NULL: the thread is unknown */
    struct code_space *space;    /* at this moment; NULL: unknown */
    uint64_t from, to;
    struct ticks time;       /* of the newest packet before that has one */
    uint64_t offset;         /* of STEP_ERROR: of the packet in its ring */
    uint32_t instructions;   /* of STEP_BLOCK */
    enum decode_error error; /* of STEP_ERROR */
    uint8_t kind;            /* enum flow_step_kind */
};

struct flow_observer {
    void *context;
    bool instructions; /* report these, too: most of the steps, and most of the time */
    bool blocks;       /* report the code that ran as STEP_BLOCK, before the branch at its end */
    /* From the decoding thread, in the order of execution. */
    void (*step)(void *context, const struct flow_step *step);
    /* NULL: every step is reported by itself. Else most of the blocks and branches come here, each
     * with how often it ran: in no order, except that a block comes before the branches at its end,
     * and without thread and time. */
    void (*repeated)(void *context, const struct flow_step *step, uint64_t count);
    /* With `repeated`: whether it is to count what this thread runs from `time` on, and until when
     * the answer stays the same. NULL: all counts. `step` gets its steps in any case. */
    bool (*counts)(void *context, const struct thread *thread, struct ticks time,
                   struct ticks *until);
};

/* As text: "conditional", "call"...; the two of a conditional jump have the same name. */
const char *flow_step_name(enum flow_step_kind kind);

#endif
