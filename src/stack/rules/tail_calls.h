/* The rule of jumps into another function that stay in their activation: tail calls, PLT stubs,
 * thunks, jumps to the cold part of a function and back.
 *
 * Another function takes over the leaf's frame: the kind and the return address stay, and so does
 * the caller. Direct jumps always stay: longjmp and unwinders jump indirectly. An indirect jump
 * stays if it goes to the first instruction of a function, back from a cold part, or into a function
 * that is not active.
 */
#ifndef MAGIC_TRACE_STACK_RULES_TAIL_CALLS_H
#define MAGIC_TRACE_STACK_RULES_TAIL_CALLS_H

#include "stack/thread_stack.h"

/* True if an indirect jump stays in the leaf's activation. */
bool tail_calls_stays_in_leaf(const struct thread_stack *stack, const struct flow_event *event);

#endif
