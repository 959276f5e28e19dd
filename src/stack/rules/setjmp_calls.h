/* Which calls setjmp protects: the calls in progress in a frame when longjmp lands in it.
 *
 * An interpreter has one function that calls setjmp and then, protected by it, something else. When
 * control has landed there, it cleans up, and may call what passes the error on: to the next
 * activation further out, never to the same again. That call is not one of those that landings were
 * seen to come out of. So the frame that was landed in last is no candidate for the next landing
 * at the same address while such a call is in progress in it; a frame that has gone back to its
 * protected call is.
 *
 * Learned from landings of which the call in progress is known: of all activations that can be
 * meant, it is the same. Only asked when nothing tells the stack pointer.
 *
 * Called by unwinding.c and stitching.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SETJMP_CALLS_H
#define MAGIC_TRACE_STACK_RULES_SETJMP_CALLS_H

#include "stack/thread_stack.h"

struct setjmp_call {
    uint64_t unwind_target; /* address */
    uint64_t call;          /* return address */
};

/* Control has landed at `landing` out of the call that returns to `call`. */
void setjmp_calls_learn(struct thread_stack *stack, uint64_t unwind_target, uint64_t call);

/* Control leaves the stack of `leaf`, of `segment`, to land at `address`. The frame that it cannot
 * land in, numbered from the leaf outwards; SIZE_MAX: none. */
size_t setjmp_calls_exception(const struct thread_stack *stack, const struct segment *segment,
                              frame_id leaf, uint64_t address);

#endif
