/* Functions that call others on another stack, and come back to their own.
 *
 * Go's systemstack and asmcgocall do, and whoever runs code on a stack of its own: load the stack
 * pointer, call, load it again, return. To us these are calls like any other; but the way back is
 * told as a move from one stack to another (stack_pointer_switch.h), which it is no use to search a parked
 * stack for. mcall and morestack call in the same way and never come back: where their stack was
 * left tells it apart when it goes on (goroutines.h).
 *
 * Called by the rules of calls and switches.
 */
#ifndef MAGIC_TRACE_STACK_RULES_CALLS_ON_OTHER_STACK_H
#define MAGIC_TRACE_STACK_RULES_CALLS_ON_OTHER_STACK_H

#include "stack/thread_stack.h"

/* The leaf is about to call. */
void note_call_elsewhere(struct thread_stack *stack);

/* The stack pointer in `caller` when it made its newest call on another stack; 0 when it has made
 * none, or that was not told. */
uint64_t pointer_before_call(const struct thread_stack *stack, frame_id caller);

/* A return or jump of the leaf ends a move. True when the leaf has called on another stack, and
 * returns to its caller. */
bool returns_from_elsewhere(const struct thread_stack *stack, const struct flow_event *event);

#endif
