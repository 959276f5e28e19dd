/* The rules of control that continues in the middle of a function: longjmp and exceptions.
 *
 * All frames above the one in which control continues, the unwind target, end at once. It is
 *   for C++ and Rust exceptions    the innermost activation whose active call has its landing pad
 *                                  there (.gcc_except_table)
 *   if there is one activation     that one
 *   for pthread_exit               the next one outwards (forced_unwinding.h)
 *   for longjmp                    one of those that have called setjmp from there
 *                                  (unwind_targets.h) and, if the stack pointer is recorded, agree
 *                                  with it (unwind_target_pointers.h); if not, one that error
 *                                  handling has not left (setjmp_calls.h)
 * If several are left, the packets do not show which one it is, but later events do: the returns
 * from there on go to the callers of the right one. So a new segment begins, which is stitched to
 * the stack before when the whole trace is known (stitching.h); if nothing decides, the innermost
 * is taken.
 */
#ifndef MAGIC_TRACE_STACK_RULES_UNWINDING_H
#define MAGIC_TRACE_STACK_RULES_UNWINDING_H

#include "stack/thread_stack.h"

/* Control is at event->to in event->function, and came there neither by call nor return: in the
 * leaf, in another active frame, or in a function that is not active and so takes over the leaf. */
void land(struct thread_stack *stack, const struct flow_event *event);

/* As land, by a return that fits nothing on the stack. */
void land_by_return(struct thread_stack *stack, const struct flow_event *event);

/* True if an active frame's call has its landing pad at event->to: an exception has continued
 * there. A landing pad can equal the return address of a call before it that never returns, so this
 * is checked before a return to an outer frame is accepted. */
bool land_on_pad(struct thread_stack *stack, const struct flow_event *event);

/* True if an indirect jump does not leave the leaf's activation: to the first instruction of a
 * function (a tail call), back from a cold part, or into a function that is not active. */
bool stays_in_leaf(const struct thread_stack *stack, const struct flow_event *event);

/* Another function runs in the leaf's place. No change if it is the leaf's own. */
void take_over(struct thread_stack *stack, function_id function, uint64_t address);

#endif
