/* Every step of a thread's control flow, one by one: for those who compare decoders.
 *
 * Flow events leave out what no call stack needs; steps leave out nothing: each instruction that
 * ran, each branch with where it went, each error with the packet at which it was noticed. A
 * decoder with an observer takes no shortcuts and works on one core, so it is many times slower; it
 * goes the way by which the shortcuts are learnt. Told by flow_steps (flow.h)
 * to `dump` and `decode -stats`.
 */
#ifndef MAGIC_TRACE_DECODE_FLOW_STEP_H
#define MAGIC_TRACE_DECODE_FLOW_STEP_H

#include "decode/decode_error.h"
#include "decode/pt/blocks/code_space.h"

enum flow_step_kind {
    /* Branches. */
    STEP_TAKEN,     /* a conditional jump that went to its target, ... */
    STEP_NOT_TAKEN, /* ... that went on behind itself: `to` is there */
    STEP_JUMP,
    STEP_CALL,
    STEP_RETURN,
    STEP_FAR_CALL, /* syscall, sysenter, int, far call */
    STEP_FAR_RETURN,
    STEP_FAR_JUMP,
    STEP_INTERRUPT, /* before the instruction at `from` */
    STEP_ABORT,     /* of a transaction, likewise */
    /* As packets tell: not where the data begin or end in the middle of what ran. */
    STEP_START, /* tracing began, `from` is not known (0) */
    STEP_END,   /* tracing ended behind or before `from`; `to` is not known (0) */
    /* Others. */
    STEP_INSTRUCTION, /* at `from` has run */
    STEP_OVERFLOW,    /* the processor dropped packets */
    STEP_LOST,        /* packets were lost behind the processor */
    STEP_ERROR,       /* noticed at `from`, 0 unknown */
    STEP_KINDS,
};

struct flow_step {
    const struct thread *thread; /* NULL: nobody knows whose this is */
    struct code_space *space;    /* as of now; NULL: of nobody known */
    uint64_t from, to;
    uint64_t offset;         /* of STEP_ERROR: of the packet in its ring */
    enum decode_error error; /* of STEP_ERROR */
    uint8_t kind;            /* enum flow_step_kind */
};

struct flow_observer {
    void *context;
    bool instructions; /* tell these, too: most of the steps, and most of the time */
    /* From the decoding thread, in the order of execution. */
    void (*step)(void *context, const struct flow_step *step);
};

/* "conditional", "call"...; the two of a conditional jump have the same. */
const char *flow_step_name(enum flow_step_kind kind);

#endif
