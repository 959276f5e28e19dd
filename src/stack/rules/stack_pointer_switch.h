/* The rules of switches between stacks where the recording tells the stack pointer (FLOW_STACK).
 *
 * It is told before and behind code that loads it: a *move*. A return or an indirect jump that ends
 * a move may go on in another stack. Which, the pointer tells, because a stack goes on about where
 * it was parked:
 *   to the first instruction of a function, and far   a new stack begins
 *   to where the leaf of a suspended or the running   that one whose pointer was nearest
 *   stack would return
 *   elsewhere                                         the one whose pointer was nearest below: it is
 *                                                     unwound
 *
 * Where control lands in the stack that goes on is then for the ordinary rules to tell.
 *
 * Recordings of real hardware do not tell the pointer: see stack_switch.h.
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_POINTER_SWITCH_H

#include "stack/thread_stack.h"

void rule_stack_pointer(struct thread_stack *stack, const struct flow_event *event);

/* The event is about to be followed: a return or a jump may end a move. */
void begin_move_by(struct thread_stack *stack, const struct flow_event *event);

/* The event has been followed. */
void end_move_by(struct thread_stack *stack, const struct flow_event *event);

/* True when `event` ends a move: its stack then runs, and searching for another is wrong. */
static inline bool is_stack_pointer_move(const struct thread_stack *stack)
{
    return stack->move.to != 0;
}

/* True when `event` is a jump that is known to leave the stack as it is: no landing, no switch. */
static inline bool keeps_stack(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->kind == FLOW_JUMP && stack->stack_pointer_is_recorded &&
           !is_stack_pointer_move(stack) && !(event->flags & FLOW_LOADS_STACK);
}

/* A return or an indirect jump that ends a move, in a segment: goes to the stack that goes on. True
 * when the event is done with; else the ordinary rules apply in that stack. */
bool switch_by_pointer(struct thread_stack *stack, const struct flow_event *event);

#endif
