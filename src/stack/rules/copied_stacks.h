/* The rule of stacks that are copied: programs in which several stacks lie at the same addresses, one after the other.
 *
 * A switch copies the part that differs away to the heap, adds to the stack pointer, copies the other one's part to where it
 * was, and goes on in the same function (greenlet, and so gevent and eventlet). No branch shows it (FLOW_COPY). The stack that
 * continues is one that was left at the same place, and with exactly the stack pointer that is set, if that is recorded.
 *
 * A stack also begins without a switch: the function returns to its caller, which calls on. The callers below are its own
 * then, and those of the stack that it began on: this one continues where the function had returned.
 *
 * Snapshots of the translator say which stack it is, by a number that the stack got when it was left
 * (packet/stack_numbers.h). Then it is that one, or one that was left before the recording begins, or in a gap, whose callers
 * the recording may name (recorded_callers.h).
 *
 * Otherwise, of several stacks that fit, and differ, the returns that follow decide; until then, the callers are unknown. They stay
 * unknown where none fits, or several, and in recordings that may not have all stacks.
 */
#ifndef MAGIC_TRACE_STACK_RULES_COPIED_STACKS_H
#define MAGIC_TRACE_STACK_RULES_COPIED_STACKS_H

#include "stack/thread_stack.h"

/* A stack that was copied away. */
struct copied_stack {
    frame_id leaf;    /* its function has changed stacks, and continues */
    uint64_t place;   /* where */
    uint64_t pointer; /* the stack pointer there; 0: not recorded */
    uint32_t number;  /* that the recording has given it; 0: none */
};

/* Where stacks begin: code that has called what changes stacks, without another one that continues, calls on. */
struct begun_place {
    function_id function;
    uint64_t address; /* that the call returned to */
    unsigned count;   /* of calls, from this one to the function that changes stacks */
};

/* Of the stack that is left, and of the one that continues; 0: unknown. */
struct copied_numbers {
    uint32_t left, continues;
};

struct copied_stacks {
    struct array left;       /* struct copied_stack, the oldest first */
    struct array candidates; /* frame_id: leaves of the stacks that may be the one that runs */
    struct array begun;      /* struct begun_place */
    unsigned searches;       /* for such places */
    struct copied_numbers numbers; /* of the COPY that comes next; all 0: unknown */
};

#endif
