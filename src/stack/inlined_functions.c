#include "stack/inlined_functions.h"

static const struct inlined *get(const struct thread_stack *stack, inlined_id inlined)
{
    return stack->inlined.get(stack->inlined.context, inlined);
}

/* The one that contains `inlined`, or is it, at that depth. */
static inlined_id outer_at(const struct thread_stack *stack, inlined_id inlined, uint32_t depth)
{
    while (get(stack, inlined)->depth > depth)
        inlined = get(stack, inlined)->outer;
    return inlined;
}

static uint32_t common_depth(const struct thread_stack *stack, inlined_id left, inlined_id right)
{
    uint32_t depth = get(stack, left)->depth, other = get(stack, right)->depth;
    if (other < depth)
        depth = other;
    while (outer_at(stack, left, depth) != outer_at(stack, right, depth))
        depth--;
    return depth;
}

void inlined_functions_move(struct thread_stack *stack, inlined_id inlined, bool before)
{
    inlined_id open = inlined_frames_open(stack, stack->leaf);
    if (stack->inlined.get == NULL || open == inlined)
        return;
    uint32_t common = common_depth(stack, open, inlined), depth = get(stack, inlined)->depth;
    if (common < get(stack, open)->depth)
        stack_moves_record(stack, HISTORY_INLINED_END, outer_at(stack, open, common));
    for (uint32_t inner = common + 1; inner <= depth; inner++)
        stack_moves_record(stack, before ? HISTORY_INLINED_BEFORE : HISTORY_INLINED,
                           outer_at(stack, inlined, inner));
    inlined_frames_set(stack, stack->leaf, inlined);
}

static bool leaves_open(const struct flow_event *event)
{
    return event->kind == FLOW_RETURN || event->kind == FLOW_JUMP || event->kind == FLOW_RESUME ||
           event->kind == FLOW_KERNEL_RETURN || event->kind == FLOW_ABORT;
}

void inlined_functions_settle(struct thread_stack *stack, const struct flow_event *event)
{
    inlined_id inlined;
    if (stack->leaf == FRAME_NONE || event->to == 0 || !leaves_open(event) ||
        thread_stack_leaf(stack)->function != event->function ||
        !inlined_frames_find(stack, stack->leaf, event->to, &inlined))
        return;
    inlined_functions_move(stack, inlined, event->kind == FLOW_RESUME);
}
