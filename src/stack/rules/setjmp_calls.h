/* Setjmp-protected calls: the calls that are active in a frame when longjmp continues in it.
 *
 * An interpreter has one function that calls setjmp and then, protected by it, another function.
 * After longjmp it cleans up, and may call code that passes the error on: to the next activation
 * further out, never to the same again. That call is not a setjmp-protected one. So while such a
 * call is active in the frame in which longjmp continued last, that frame is no candidate for the
 * next longjmp to the same address; a frame whose active call is setjmp-protected is.
 *
 * Learned from each longjmp for which the active call is certain because it is the same in all
 * candidates. Used only if the stack pointer is not recorded.
 *
 * Called by unwinding.c and stack_comparison.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SETJMP_CALLS_H
#define MAGIC_TRACE_STACK_RULES_SETJMP_CALLS_H

#include "stack/thread_stack.h"

struct setjmp_call {
    uint64_t unwind_target; /* address */
    uint64_t call;          /* return address */
};

struct setjmp_calls {
    struct array calls; /* struct setjmp_call */
};

/* Control has continued at `unwind_target` out of the call that returns to `call`. */
void setjmp_calls_learn(struct thread_stack *stack, uint64_t unwind_target, uint64_t call);

/* Control leaves the stack of `leaf`, of `segment`, to continue at `address`. Returns the frame in
 * which it cannot continue, numbered from the leaf outwards; SIZE_MAX: none. */
size_t setjmp_calls_exception(const struct thread_stack *stack, const struct segment *segment,
                              frame_id leaf, uint64_t address);

#endif
