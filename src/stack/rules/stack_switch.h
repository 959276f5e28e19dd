/* The rules of programs with several stacks per thread: fibers, coroutines, goroutines.
 *
 * A switch saves the stack pointer of the running stack, loads that of another, and returns there.
 * In the packets that is a return which fits nothing on the running stack. It goes
 *   to the first instruction of a function    a new stack begins with that function, and the
 *                                             running one is suspended
 *   to where the leaf of a suspended stack    that stack continues, in the leaf's caller; the
 *   would return to                           running one is suspended
 *
 * If the first function of a new stack returns to where the stack suspended for it would have
 * continued, there were not two stacks: it was a tail call by "push; ret". The function then gets
 * the other stack's callers after all.
 *
 * If several stacks are suspended in the same place (all in yield, called from one line), a return
 * to it does not show which one continues. A segment begins then, and the returns that follow
 * decide (stitching.h).
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_SWITCH_H

#include "stack/thread_stack.h"

/* True if the frame `leaf` was pushed by a call whose return address is `address`. */
bool leaf_returns_to(const struct thread_stack *stack, frame_id leaf, uint64_t address);

/* The two halves of a switch. The running stack is suspended: ... */
void suspend_running(struct thread_stack *stack);
/* ... and with no stack running, the suspended one with this index continues in its frame `frame`;
 * or one that can continue at event->to (false: none can); or a new one begins. */
void resume_suspended(struct thread_stack *stack, size_t index, frame_id frame,
                      const struct flow_event *event);
bool go_on_in_suspended(struct thread_stack *stack, const struct flow_event *event);
void begin_new_stack(struct thread_stack *stack, const struct flow_event *event);

/* True if a suspended stack can continue at `address`. */
bool is_suspended_at(const struct thread_stack *stack, uint64_t address);

/* The running stack is suspended, and the suspended one with this index continues in its frame
 * `frame`, at event->to. */
void switch_to(struct thread_stack *stack, size_t index, frame_id frame,
               const struct flow_event *event);

/* True if a suspended stack continues at event->to: the switch has been made. Also if the running
 * stack's leaf would return there: it may be either. */
bool switch_to_suspended(struct thread_stack *stack, const struct flow_event *event);

/* A return to the first instruction of a function. */
void switch_to_new(struct thread_stack *stack, const struct flow_event *event);

/* True if the leaf is the outermost known frame of a new stack. */
bool is_first_of_new_stack(const struct thread_stack *stack);

/* The leaf returns to event->to. True if it is the first of a new stack, and there was no switch to
 * it: it has got the callers of the stack that was suspended for it. */
bool was_no_switch(struct thread_stack *stack, const struct flow_event *event);

#endif
