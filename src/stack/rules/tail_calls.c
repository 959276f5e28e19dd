#include "stack/rules/tail_calls.h"

#include "stack/rules/stack_switch.h"
#include "stack/stack_moves.h"

/* A jump back to the function that was called in this frame returns from its cold part, even if the
 * same function is active further out. Not where the frame returns to: that is `pop; jmp`, of a function which had called
 * itself. */
static bool returns_from_cold_part(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->function != FUNCTION_UNKNOWN &&
           thread_stack_leaf(stack)->return_address != event->to &&
           frame_tree_origin(&stack->tree, stack->leaf) == event->function;
}

bool tail_calls_stays_in_leaf(const struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (event->flags & FLOW_LOADS_STACK)
        return false;
    if (leaf->function == event->function || returns_from_cold_part(stack, event))
        return true;
    if (active_functions_count(&stack->open, event->function) == 0 &&
        suspended_stacks_none(stack) && !thread_stack_was_open_before(stack, event->function))
        return true;
    return thread_stack_is_start(stack, event->to);
}

static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    bool stays = tail_calls_stays_in_leaf(stack, event);
    if (stays)
        stack_moves_replace(stack, event->function, event->to);
    return stays;
}

const struct stack_rule tail_calls_rule = {
    .follow = {[FLOW_JUMP] = follow_jump},
};
