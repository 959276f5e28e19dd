/* The rules of programs that have several stacks per thread: fibers, coroutines, goroutines.
 *
 * A switch saves where the running stack is, loads the stack pointer of another and returns there.
 * In the packets that is a return which fits nothing on the running stack. It goes
 *   to the first instruction of a function    a new stack begins with that function, and the
 *                                             running one is suspended
 *   to where the leaf of a suspended stack    that stack goes on, in the leaf's caller; the running
 *   would return to                           one is suspended
 *
 * When the first function of a new stack returns to where the stack suspended for it would have gone
 * on, there were no two stacks: it was a tail call by "push; ret". The function then gets the other
 * stack's callers after all.
 *
 * When several stacks are parked in the same place (all in yield, called from one line), a return
 * to it tells nothing of who goes on. A segment begins then, and the returns that follow tell
 * (stitching.h).
 */
#ifndef MAGIC_TRACE_STACK_RULES_STACK_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_STACK_SWITCH_H

#include "stack/thread_stack.h"

/* True when the frame `leaf` was pushed by a call to be followed by `address`. */
bool leaf_returns_to(const struct thread_stack *stack, frame_id leaf, uint64_t address);

/* The two halves of a switch. The running stack waits from now on: */
void suspend_running(struct thread_stack *stack);
/* ... and with no stack running, the parked one with this index goes on in its frame `frame`, or
 * one that can go on at event->to (false: none can), or a new one begins. */
void resume_suspended(struct thread_stack *stack, size_t index, frame_id frame,
                      const struct flow_event *event);
bool go_on_in_suspended(struct thread_stack *stack, const struct flow_event *event);
void begin_new_stack(struct thread_stack *stack, const struct flow_event *event);

/* True when a parked stack can go on at `address`. */
bool is_suspended_at(const struct thread_stack *stack, uint64_t address);

/* The running stack waits, and the parked one with this index goes on in its frame `frame`, at
 * event->to. */
void switch_to(struct thread_stack *stack, size_t index, frame_id frame,
               const struct flow_event *event);

/* True when a parked stack goes on at event->to: the switch has then been made. Also when the
 * running stack's leaf would return to there: it may be either. */
bool switch_to_suspended(struct thread_stack *stack, const struct flow_event *event);

/* A return to the first instruction of a function. */
void switch_to_new(struct thread_stack *stack, const struct flow_event *event);

/* True when the leaf is the outermost frame known of a stack that is new. */
bool is_first_of_new_stack(const struct thread_stack *stack);

/* The leaf returns to event->to. True when it is the first of a new stack, and there was no switch
 * to it: it has got the callers of the stack that was parked for it. */
bool was_no_switch(struct thread_stack *stack, const struct flow_event *event);

#endif
