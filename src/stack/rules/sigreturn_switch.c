#include "stack/rules/sigreturn_switch.h"

#include "stack/rules/context_rewrites.h"
#include "stack/rules/kernel_frames.h"
#include "stack/rules/stack_switch.h"
#include "stack/stack_moves.h"

enum {
    /* Bytes between the pointers of two contexts on one stack, where a handler makes the interrupted code call something,
     * or skip a part of what it had pushed. */
    SAME_STACK = 512,
    /* Bytes that a handler may unwind, where stacks may exist that were never seen. */
    UNWOUND = 16 << 10,
    /* Stacks that handlers have begun, and that still run or are suspended. */
    NEW_STACKS_LIMIT = 32,
    /* Handlers that are examined where stacks may be missed. When all of these have gone back to what they had interrupted,
     * so do the others. */
    ASSUMED_LIMIT = 8,
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
    const struct array *suspended = suspended_stacks_list(stack);
    for (*index = suspended->count; *index > 0;) {
        const struct suspended_stack *one = array_at(suspended, --*index);
        if (one->pointer == pointer)
            return one;
    }
    return NULL;
}

/* The restored pointer may lie further out on the interrupted stack, as far as that is known. */
static bool may_be_further_out(const struct thread_stack *stack, const struct stack_move *move)
{
    uint64_t top = stack_switch_top(stack);
    return move->to > move->from && (top == 0 || move->to <= top) &&
           (!stack_switch_misses_stacks(stack) || move->to - move->from <= UNWOUND);
}

static bool stays(const struct thread_stack *stack, const struct stack_move *move,
                  const struct flow_event *event)
{
    uint64_t distance = move->from > move->to ? move->from - move->to : move->to - move->from;
    return distance <= SAME_STACK ||
           (may_be_further_out(stack, move) && !thread_stack_is_start(stack, event->to) &&
            active_functions_count(&stack->open, event->function) > 0);
}

/* The frame in which a suspended stack continues: what the handler of its restorer has interrupted. */
static frame_id interrupted_frame(const struct thread_stack *stack, frame_id leaf)
{
    bool restorer = thread_stack_frame(stack, leaf)->kind == FRAME_SIGNAL_RETURN;
    return restorer ? thread_stack_parent(stack, leaf) : leaf;
}

/* A stack that a handler has left continues at event->to, or may: it is unknown then whether the interrupted one does. Or
 * so many have begun on top of each other that they can only be stacks of their own. */
static bool changes_stack(const struct thread_stack *stack, const struct flow_event *event)
{
    return (stack_switch_assumed_wrongly(stack) && stack_switch_misses_stacks(stack)) ||
           stack_switch_has_interrupted(stack, event->to) ||
           context_rewrites_count_at(stack, event->to) > 0 ||
           (thread_stack_is_start(stack, event->to) &&
            context_rewrites_count(stack) == NEW_STACKS_LIMIT);
}

/* A handler goes back to where it has interrupted code; there may be stacks that were never seen, one of which was interrupted
 * there too. */
static bool may_have_changed_stack(struct thread_stack *stack, frame_id restorer,
                                   const struct flow_event *event)
{
    struct sigreturn_switch *state = stack->rules.sigreturn_switch;
    uint64_t interrupted = thread_stack_frame(stack, restorer)->return_address;
    return stack_switch_misses_stacks(stack) && state->assumed < ASSUMED_LIMIT &&
           kernel_frames_continues_at(interrupted, event->to);
}

static void leave_restorer(struct thread_stack *stack, frame_id restorer)
{
    stack_moves_return(stack, restorer);
    stack_switch_leave(stack);
}

/* Without stack pointers. */
static bool follow_by_address(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id restorer = thread_stack_parent(stack, stack->leaf);
    if (thread_stack_frame(stack, restorer)->kind != FRAME_SIGNAL_RETURN)
        return false;
    if (changes_stack(stack, event)) {
        leave_restorer(stack, restorer);
        context_rewrites_part(stack, restorer);
        suspended_stacks_add(stack, restorer);
        if (stack_switch_has_interrupted(stack, event->to))
            stack_switch_continue_interrupted(stack, event);
        else
            stack_switch_begin(stack, event);
        return true;
    }
    if (!may_have_changed_stack(stack, restorer, event))
        return false;
    stack->rules.sigreturn_switch->assumed++;
    leave_restorer(stack, restorer); /* shows whether earlier ones have swapped */
    if (stack_switch_assumed_wrongly(stack)) {
        suspended_stacks_add(stack, restorer);
        stack_switch_begin(stack, event);
    } else {
        stack_switch_assume(stack, restorer, event);
    }
    return true;
}

/* From the kernel, whether it was traced or not. */
static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    struct stack_move move = stack->rules.sigreturn_switch->move;
    stack->rules.sigreturn_switch->move = (struct stack_move){0};
    if (stack->leaf == FRAME_NONE || thread_stack_leaf(stack)->kind != FRAME_SYSCALL)
        return false;
    if (!stack_pointer_is_recorded(stack))
        return follow_by_address(stack, event);
    if (move.to == 0 || move.from == 0)
        return false;
    size_t index;
    const struct suspended_stack *continues = find_left_with(stack, move.to, &index);
    if (!continues && stays(stack, &move, event))
        return false;
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf)); /* out of the kernel */
    stack_pointer_set_left(stack, move.from);
    if (continues)
        stack_switch_to(stack, index, interrupted_frame(stack, continues->leaf), event);
    else
        stack_switch_to_new(stack, event, move.to);
    return true;
}

/* What sigreturn has begun runs to the end of the recording: nothing has shown that it runs on top of what the handler
 * interrupted. */
static void part_last(struct thread_stack *stack, frame_id leaf)
{
    if (!stack_pointer_is_recorded(stack))
        context_rewrites_part(stack, leaf);
}

const struct stack_rule sigreturn_switch_rule = {
    .state_size = sizeof(struct sigreturn_switch),
    .events_ended = part_last,
    .before_event = note_system_call,
    .follow = {[FLOW_KERNEL_RETURN] = follow_return, [FLOW_RESUME] = follow_return},
};
