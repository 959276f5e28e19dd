/* The rule of fibers that run on top of those who called or resumed them: OCaml 5's effects.
 *
 * A function calls on another stack (calls_on_other_stack.h): there a fiber begins, on top of its caller. It goes away by a jump to a
 * function, with exactly the stack pointer that the caller had: the caller's function that made the call ends by that tail
 * call (an effect is performed: its handler runs in the fiber's place). The fiber's frames are kept.
 *
 * They continue when a jump to a function has exactly the stack pointer with which the fiber was left. Now they are on top of the
 * function that jumps, which may be another one than the caller: the fiber returns to it. When the fiber's own caller was a
 * fiber that was left with the stack pointer which it had at the call, that one continues below it (an effect that the inner
 * of two handlers passed on to the outer one).
 *
 * Each time, the fiber's frames begin again. Fibers that were left before the recording began are those of
 * stack_pointer_switch.c, and so are all where the stack pointer is not recorded.
 *
 * Source: OCaml 5.3, runtime/amd64.S (caml_runstack, caml_perform, caml_reperform, caml_resume).
 */
#ifndef MAGIC_TRACE_STACK_RULES_CALLED_FIBERS_H
#define MAGIC_TRACE_STACK_RULES_CALLED_FIBERS_H

#include "stack/thread_stack.h"

/* A function has called on another stack. */
struct fiber_call {
    uint64_t pointer; /* of its own stack */
    frame_id caller;
};

/* A fiber that is not running. */
struct called_fiber {
    uint64_t pointer;        /* with which it was left */
    uint64_t caller_pointer; /* that of its caller then */
    frame_id caller;         /* the frame that had called it, or that stood in for it */
    frame_id leaf;
};

struct called_fibers {
    struct array calls;  /* struct fiber_call, by pointer */
    struct array fibers; /* struct called_fiber, the oldest first */
};

/* The leaf jumps, directly or not. True if a fiber goes away or continues by that. */
bool called_fibers_follow_jump(struct thread_stack *stack, const struct flow_event *event);

#endif
