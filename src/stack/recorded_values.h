/* Arguments and results of calls that a recording has (-args), on their way into the history of a thread.
 *
 * Called by follow.c. Each group of words becomes one step of the history, HISTORY_CALL_VALUES, and belongs to the leaf:
 * arguments come right after the call, a result right before the return.
 */
#ifndef MAGIC_TRACE_STACK_RECORDED_VALUES_H
#define MAGIC_TRACE_STACK_RECORDED_VALUES_H

#include "stack/thread_stack.h"

/* A group begins with a word of its own: how many words follow, and whether they are of a result. */
enum { RECORDED_VALUES_COUNT = 0xffff, RECORDED_VALUES_RESULT = 0x10000 };

/* Follows a FLOW_CALL_VALUE. */
void recorded_values_follow(struct thread_stack *stack, const struct flow_event *event);

/* The words of the group at `index`, the head first. */
static inline const uint64_t *recorded_values_at(const struct thread_stack *stack, uint32_t index,
                                                 size_t *count)
{
    const uint64_t *group = (const uint64_t *)stack->call_values.elements + index;
    *count = group[0] & RECORDED_VALUES_COUNT;
    return group + 1;
}

static inline bool recorded_values_are_result(const struct thread_stack *stack, uint32_t index)
{
    return ((const uint64_t *)stack->call_values.elements)[index] & RECORDED_VALUES_RESULT;
}

#endif
