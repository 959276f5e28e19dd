/* The rules of control that continues in the middle of a function: longjmp and exceptions.
 *
 * All frames above the one in which control continues, the unwind target, end at once. It is
 *   for C++ and Rust exceptions    the innermost activation whose active call has its landing pad
 *                                  there (landing_pads.h)
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
void unwinding_land(struct thread_stack *stack, const struct flow_event *event);

#endif
