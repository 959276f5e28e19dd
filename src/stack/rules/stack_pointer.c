#include "stack/rules/stack_pointer.h"

static void pointer_reported(struct thread_stack *stack, uint64_t pointer)
{
    struct stack_pointer *state = stack->rules.stack_pointer;
    if (state->is_fresh) {
        if (state->move.from == 0)
            state->move.from = state->last;
        state->move.to = pointer;
    }
    state->is_recorded = true;
    state->last = pointer;
    state->is_fresh = true;
}

static bool follow_stack(struct thread_stack *stack, const struct flow_event *event)
{
    pointer_reported(stack, event->to);
    return true;
}

static void numbers_reported(struct thread_stack *stack, const struct flow_event *event)
{
    struct stack_move *move = &stack->rules.stack_pointer->move;
    move->left = (uint32_t)event->to;
    move->continues = (uint32_t)event->next;
}

/* A return, a jump or a copy may end a move. */
static void before_event(struct thread_stack *stack, const struct flow_event *event)
{
    if (event->kind == FLOW_COPIED_STACKS)
        numbers_reported(stack, event);
    bool reports =
        event->kind == FLOW_RETURN || event->kind == FLOW_JUMP || event->kind == FLOW_COPY;
    if (reports && event->next != 0)
        pointer_reported(stack, event->next);
}

static void after_event(struct thread_stack *stack, const struct flow_event *event)
{
    bool moves_nothing = event->kind == FLOW_TRAP_PUSH || event->kind == FLOW_TRAP_POP ||
                         event->kind == FLOW_STACK || event->kind == FLOW_COPIED_STACKS ||
                         (event->kind == FLOW_JUMP && event->flags & FLOW_DIRECT);
    if (!moves_nothing)
        stack_pointer_branched(stack);
}

const struct stack_rule stack_pointer_rule = {
    .state_size = sizeof(struct stack_pointer),
    .before_event = before_event,
    .follow = {[FLOW_STACK] = follow_stack},
    .after_event = after_event,
};
