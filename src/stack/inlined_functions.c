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

/* Step by step. */
static void move_slowly(struct thread_stack *stack, inlined_id open, inlined_id inlined,
                        enum history_kind kind)
{
    inlined_id shared = inlined_moves_common(stack->inlined.calls, open, inlined);
    if (shared != open)
        stack_moves_record(stack, HISTORY_INLINED_END, shared);
    if (shared != inlined)
        begin(stack, inlined, shared, kind);
}

void inlined_functions_move(struct thread_stack *stack, inlined_id inlined, bool before)
{
    const struct inlined_table *calls = stack->inlined.calls;
    inlined_id open = inlined_frames_open(stack, stack->leaf);
    if (calls == NULL || open == inlined)
        return;
    const struct inlined_move *move =
        before ? NULL : inlined_moves_get(&stack->inlined_moves, calls, open, inlined);
    if (move != NULL)
        history_add_all(&stack->history, stack->now, move->steps, move->count);
    else
        move_slowly(stack, open, inlined, before ? HISTORY_INLINED_BEFORE : HISTORY_INLINED);
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
