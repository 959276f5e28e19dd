#include "stack/rules/sigreturn_switch.h"

#include "stack/rules/stack_switch.h"
#include "stack/stack_moves.h"

enum {
    /* Bytes between the pointers of two contexts on one stack, where a handler makes the interrupted code call something,
     * or skip a part of what it had pushed. */
    SAME_STACK = 512,
};

/* A restorer calls sigreturn. */
static void note_system_call(struct thread_stack *stack, const struct flow_event *event)
{
    struct sigreturn_switch *state = stack->rules.sigreturn_switch;
    bool restores = event->kind == FLOW_SYSCALL && stack->leaf != FRAME_NONE &&
                    thread_stack_leaf(stack)->kind == FRAME_SIGNAL_RETURN;
    if (restores)
        state->move = stack_pointer_move(stack);
    else if (event->kind != FLOW_KERNEL_RETURN && event->kind != FLOW_RESUME)
        state->move = (struct stack_move){0};
}

/* The stack that was left last with that pointer; NULL: none. `*index`: its place among the suspended ones. */
static const struct suspended_stack *find_left_with(const struct thread_stack *stack,
                                                    uint64_t pointer, size_t *index)
{
    const struct array *suspended = stack_switch_suspended(stack);
    for (*index = suspended->count; *index > 0;) {
        const struct suspended_stack *one = array_at(suspended, --*index);
        if (one->pointer == pointer)
            return one;
    }
    return NULL;
}

static bool stays(const struct thread_stack *stack, const struct stack_move *move,
                  const struct flow_event *event)
{
    uint64_t distance = move->from > move->to ? move->from - move->to : move->to - move->from;
    return distance <= SAME_STACK ||
           (move->to > move->from && !thread_stack_is_start(stack, event->to) &&
            active_functions_count(&stack->open, event->function) > 0);
}

/* Out of the kernel and the restorer, to what was interrupted. */
static void leave_handler(struct thread_stack *stack)
{
    frame_id restorer = thread_stack_parent(stack, stack->leaf);
    stack_moves_return(stack, thread_stack_parent(stack, restorer));
}

/* From the kernel, whether it was traced or not. */
static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    struct stack_move move = stack->rules.sigreturn_switch->move;
    stack->rules.sigreturn_switch->move = (struct stack_move){0};
    if (move.to == 0 || move.from == 0 || stack->leaf == FRAME_NONE ||
        thread_stack_leaf(stack)->kind != FRAME_SYSCALL)
        return false;
    size_t index;
    const struct suspended_stack *continues = find_left_with(stack, move.to, &index);
    if (!continues && stays(stack, &move, event))
        return false;
    leave_handler(stack);
    stack_pointer_set_left(stack, move.from);
    if (continues)
        stack_switch_to(stack, index, continues->leaf, event);
    else
        stack_switch_to_new(stack, event, move.to);
    return true;
}

const struct stack_rule sigreturn_switch_rule = {
    .state_size = sizeof(struct sigreturn_switch),
    .before_event = note_system_call,
    .follow = {[FLOW_KERNEL_RETURN] = follow_return, [FLOW_RESUME] = follow_return},
};
