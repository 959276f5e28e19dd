/* The rules of switches between stacks in recordings with the stack pointer (FLOW_STACK).
 *
 * The pointer is recorded before and after code that loads it: a *move*. A return or an indirect
 * jump that ends a move may continue in another stack. The pointer decides in which, because a
 * stack continues about where it was suspended:
 *   to the first instruction of a function,     a new stack begins
 *   far away
 *   to where the leaf of a suspended or the     the one whose pointer was nearest
 *   running stack would return
 *   elsewhere                                   the one whose pointer was nearest below: it is
 *                                               unwound
 *
 * The ordinary rules then decide where control continues in that stack.
 *
 * Recordings of real hardware have no stack pointer: see stack_switch.h.
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H

#include "stack/thread_stack.h"

void rule_stack_pointer(struct thread_stack *stack, const struct flow_event *event);

/* Called before the event is followed: a return or a jump may end a move. */
void begin_move_by(struct thread_stack *stack, const struct flow_event *event);

/* Called after the event has been followed. */
void end_move_by(struct thread_stack *stack, const struct flow_event *event);

/* True if `event` ends a move: its stack is the running one, and must not be searched for again. */
static inline bool is_stack_pointer_move(const struct thread_stack *stack)
{
    return stack->move.to != 0;
}

/* True if `event` is a jump that is known not to change the stack: no unwinding, no switch. */
static inline bool keeps_stack(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->kind == FLOW_JUMP && stack->stack_pointer_is_recorded &&
           !is_stack_pointer_move(stack) && !(event->flags & FLOW_LOADS_STACK);
}

/* A return or an indirect jump that ends a move, in a segment: switches to the stack that
 * continues. True if the event is complete; else the ordinary rules apply in that stack. */
bool switch_by_pointer(struct thread_stack *stack, const struct flow_event *event);

#endif
