#include "stack/inlined_functions.h"

static const struct inlined *get(const struct thread_stack *stack, inlined_id inlined)
{
    return inlined_table_at(stack->inlined.calls, inlined);
}

/* The outermost that are not open yet begin first. */
static void begin(struct thread_stack *stack, inlined_id inlined, inlined_id open,
                  enum history_kind kind)
{
    enum { AT_ONCE = 16 };
    inlined_id path[AT_ONCE];
    size_t count = 0;
    for (; inlined != open && count < AT_ONCE; inlined = get(stack, inlined)->outer)
        path[count++] = inlined;
    if (inlined != open)
        begin(stack, inlined, open, kind);
    while (count > 0)
        stack_moves_record(stack, kind, path[--count]);
}

void inlined_functions_record_steps(struct thread_stack *stack, inlined_id from, inlined_id to,
                                    enum history_kind kind)
{
    const struct inlined_table *calls = stack->inlined.calls;
    if (calls == NULL)
        return;
    inlined_id shared = inlined_moves_common(calls, from, to);
    if (shared != from)
        stack_moves_record(stack, HISTORY_INLINED_END, shared);
    if (shared != to)
        begin(stack, to, shared, kind);
}

void inlined_functions_record(struct thread_stack *stack, inlined_id from, inlined_id to)
{
    uint32_t move = INLINED_MOVE_NONE;
    if (stack->inlined.moves != NULL)
        move = inlined_move_cache_number(&stack->inlined_moves, stack->inlined.moves, from, to);
    if (move != INLINED_MOVE_NONE)
        stack_moves_record(stack, HISTORY_INLINED_MOVE, move);
    else
        inlined_functions_record_steps(stack, from, to, HISTORY_INLINED);
}

void inlined_functions_move(struct thread_stack *stack, inlined_id inlined)
{
    inlined_id open = inlined_frames_open(stack, stack->leaf);
    if (open == inlined)
        return;
    inlined_functions_record(stack, open, inlined);
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
    if (event->kind != FLOW_RESUME) {
        inlined_functions_move(stack, inlined);
        return;
    }
    inlined_functions_record_steps(stack, inlined_frames_open(stack, stack->leaf), inlined,
                                   HISTORY_INLINED_BEFORE);
    inlined_frames_set(stack, stack->leaf, inlined);
}
