#include "stack/recorded_values.h"

#include "stack/inlined_functions.h"
#include "stack/stack_moves.h"

static void begin_group(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE || stack->call_values.count >= UINT32_MAX)
        return;
    /* What is inlined at the return ends before it. */
    bool is_result = event->flags & FLOW_OF_RESULT;
    if (is_result)
        inlined_functions_move(stack, INLINED_NONE);
    stack->values_begin = (uint32_t)stack->call_values.count;
    stack->values_left = (uint32_t)event->next - 1;
    uint64_t group[] = {1 | (is_result ? RECORDED_VALUES_RESULT : 0), event->to};
    array_add_all(&stack->call_values, group, 2);
    stack_moves_record(stack, HISTORY_CALL_VALUES, stack->values_begin);
}

void recorded_values_follow(struct thread_stack *stack, const struct flow_event *event)
{
    if (event->next) {
        stack->values_left = 0;
        begin_group(stack, event);
    } else if (stack->values_left > 0) {
        stack->values_left--;
        array_add_all(&stack->call_values, &event->to, 1);
        ++*(uint64_t *)array_at(&stack->call_values, stack->values_begin);
    }
}
