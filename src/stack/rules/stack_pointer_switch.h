/* The rules of switches between stacks in recordings with the stack pointer (stack_pointer.h).
 *
 * A return or an indirect jump that ends a move may continue in another stack. The pointer decides in which, because a
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

/* A return or an indirect jump that ends a move, in a segment: switches to the stack that
 * continues. True if the event is complete; else the ordinary rules apply in that stack. */
bool switch_by_pointer(struct thread_stack *stack, const struct flow_event *event);

#endif
