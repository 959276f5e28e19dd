/* Following a thread's flow events: each goes to its rule.
 *
 * The first pass of this module begins here: timeline passes it the batches of the flow decoder.
 * Never fails and never aborts, whatever the events are: events that do not fit are repaired and
 * counted (thread_stack.statistics).
 */
#ifndef MAGIC_TRACE_STACK_FOLLOW_H
#define MAGIC_TRACE_STACK_FOLLOW_H

#include "stack/thread_stack.h"

#include <stddef.h>

void follow_events(struct thread_stack *stack, const struct flow_event *events, size_t count);

/* How a thread ended. */
struct follow_ending {
    struct ticks time; /* when; 0: unknown. If it is 0 or not after the last event, the thread
                        * ends at that event, and so does a gap that it ends in */
    const char *death; /* the signal and the address, as text that outlives the stack; NULL: no
                        * signal ended it */
};

/* Called after the last event: everything still open ends with the thread. */
void follow_end(struct thread_stack *stack, const struct follow_ending *ending);

#endif
