#include "stack/inlined_functions.h"

static const struct inlined *get(const struct thread_stack *stack, inlined_id inlined)
{
    return inlined_table_at(stack->inlined.calls, inlined);
}

/* The innermost one that contains both. */
static inlined_id common(const struct thread_stack *stack, inlined_id left, inlined_id right)
{
    const struct inlined *l = get(stack, left), *r = get(stack, right);
    while (left != right) {
        if (l->depth >= r->depth)
            l = get(stack, left = l->outer);
        else
            r = get(stack, right = r->outer);
    }
    return left;
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

void inlined_functions_move(struct thread_stack *stack, inlined_id inlined, bool before)
{
    inlined_id open = inlined_frames_open(stack, stack->leaf);
    if (stack->inlined.calls == NULL || open == inlined)
        return;
    inlined_id shared = common(stack, open, inlined);
    if (shared != open)
        stack_moves_record(stack, HISTORY_INLINED_END, shared);
    if (shared != inlined)
        begin(stack, inlined, shared, before ? HISTORY_INLINED_BEFORE : HISTORY_INLINED);
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
