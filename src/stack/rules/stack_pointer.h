/* The stack pointer, in recordings that have it (FLOW_STACK).
 *
 * It is recorded before and after code that loads it: a *move* of the stack pointer. The return or
 * indirect jump that follows ends the move, and may continue in another stack
 * (stack_pointer_switch.c), or further out in the same one (unwind_target_pointers.h).
 *
 * Recordings of real hardware have no stack pointer.
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_POINTER_H
#define MAGIC_TRACE_STACK_RULES_STACK_POINTER_H

#include "stack/thread_stack.h"

/* The stack pointer changed in code without branches. */
struct stack_move {
    uint64_t from, to;        /* 0: it did not change, or was not recorded */
    uint32_t left, continues; /* numbers of the stacks, where these share memory; 0: it has none */
};

struct stack_pointer {
    uint64_t last;          /* when it was last recorded; 0: never yet */
    struct stack_move move; /* that the event ends; all 0: it ends none */
    bool is_fresh;          /* only code without branches ran since `last` was recorded */
    bool is_recorded; /* the recording has callchain snapshots, and the stack pointer wherever it is
                       * loaded */
};

/* The recording has the stack pointer wherever it is loaded. */
static inline void stack_pointer_note_recorded(struct thread_stack *stack)
{
    stack->rules.stack_pointer->is_recorded = true;
}

static inline bool stack_pointer_is_recorded(const struct thread_stack *stack)
{
    return stack->rules.stack_pointer->is_recorded;
}

/* Branches have been followed: what was recorded before them is that of other code. */
static inline void stack_pointer_branched(struct thread_stack *stack)
{
    stack->rules.stack_pointer->is_fresh = false;
    stack->rules.stack_pointer->move = (struct stack_move){0};
}

/* The move that the event ends; all 0: none. */
static inline struct stack_move stack_pointer_move(const struct thread_stack *stack)
{
    return stack->rules.stack_pointer->move;
}

/* The stack that the move leaves was left with `pointer`. */
static inline void stack_pointer_set_left(struct thread_stack *stack, uint64_t pointer)
{
    stack->rules.stack_pointer->move.from = pointer;
}

/* True if the event ends a move: its stack is the running one, and must not be searched for again. */
static inline bool stack_pointer_moved(const struct thread_stack *stack)
{
    return stack->rules.stack_pointer->move.to != 0;
}

/* True if `event` is a jump that is known not to change the stack: no unwinding, no switch. Where the recording begins with the
 * code before the jump, an instruction before that may have loaded the pointer. */
static inline bool stack_pointer_stays(const struct thread_stack *stack,
                                       const struct flow_event *event)
{
    return event->kind == FLOW_JUMP && stack->rules.stack_pointer->is_recorded &&
           !stack_pointer_moved(stack) && !(event->flags & FLOW_LOADS_STACK) &&
           stack->previous != FLOW_RESUME && stack->previous != FLOW_CALLER;
}

#endif
