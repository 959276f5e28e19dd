/* Following a thread's flow events: each is given to its rule.
 *
 * The entrance of this room's first pass: timeline gives it the batches of the flow decoder. Never
 * fails and never aborts, whatever the events are: what does not fit is repaired and counted
 * (thread_stack.statistics).
 */
#ifndef MAGIC_TRACE_STACK_FOLLOW_H
#define MAGIC_TRACE_STACK_FOLLOW_H

#include "stack/thread_stack.h"

#include <stddef.h>

void follow_events(struct thread_stack *stack, const struct flow_event *events, size_t count);

/* How a thread ended. */
struct follow_ending {
    struct ticks time; /* when; 0 unknown, or no later than its last event: it ends there, as does a
                        * gap that it ends in */
    const char *death; /* by which signal and where, in words that outlive the stack; NULL: by none
                        */
};

/* After the last event: what is still open ends with the thread. */
void follow_end(struct thread_stack *stack, const struct follow_ending *ending);

#endif
