#include "stack/inlined_functions.h"

static bool leaves_open(const struct flow_event *event)
{
    return event->kind == FLOW_RETURN || event->kind == FLOW_JUMP || event->kind == FLOW_RESUME ||
           event->kind == FLOW_KERNEL_RETURN || event->kind == FLOW_ABORT;
}

void inlined_functions_settle(struct thread_stack *stack, const struct flow_event *event)
{
    inlined_id inlined;
    if (stack->inlined.find == NULL || stack->leaf == FRAME_NONE || event->to == 0 ||
        !leaves_open(event))
        return;
    function_id function = thread_stack_leaf(stack)->function;
    if (function != event->function ||
        !stack->inlined.find(stack->inlined.context, function,
                             frame_tree_start(&stack->tree, stack->leaf), event->to, &inlined))
        return;
    bool before = event->kind == FLOW_RESUME;
    inlined_functions_record(stack, before ? HISTORY_INLINED_BEFORE : HISTORY_INLINED, inlined);
}
