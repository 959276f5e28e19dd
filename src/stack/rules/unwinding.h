/* The rules of control that lands in the middle of a function: longjmp and exceptions.
 *
 * All frames above the one that control lands in end at once. Which one that is:
 *   C++ and Rust exceptions    the innermost activation whose call in progress has its landing pad
 *                              there (.gcc_except_table)
 *   the only activation        that one
 *   pthread_exit               the next one outwards (forced_unwinding.h)
 *   longjmp                    one of those that have called setjmp from there (unwind_targets.h)
 *                              and, if the stack pointer is told, agree with it (unwind_target_pointers.h);
 *                              if not, that error handling has not left (setjmp_calls.h)
 * When several are left, nothing in the packets tells which is meant, but what follows does: the
 * returns from there on go to the callers of the right one. A new segment begins then, which is
 * stitched to the stack before when the trace is known (stitching.h); when nothing tells, the
 * innermost is taken.
 */
#ifndef MAGIC_TRACE_STACK_RULES_UNWINDING_H
#define MAGIC_TRACE_STACK_RULES_UNWINDING_H

#include "stack/thread_stack.h"

/* Control is at event->to in event->function, and came there neither by call nor return: in the
 * leaf, in another open frame, or in a function that is not open and so takes over the leaf. */
void land(struct thread_stack *stack, const struct flow_event *event);

/* The same by a return that fits nothing on the stack. */
void land_by_return(struct thread_stack *stack, const struct flow_event *event);

/* True when an open frame's call in progress has its landing pad at event->to: an exception has
 * come there. A landing pad can have the return address of a call before it that never returns, so
 * this is asked before a return to an outer frame is believed. */
bool land_on_pad(struct thread_stack *stack, const struct flow_event *event);

/* True when an indirect jump does not leave the leaf's activation: to the first instruction of a
 * function (a tail call), back from a cold part, or into a function that is not open. */
bool stays_in_leaf(const struct thread_stack *stack, const struct flow_event *event);

/* Another function runs in the leaf's place. No change when it is the leaf's own. */
void take_over(struct thread_stack *stack, function_id function, uint64_t address);

#endif
