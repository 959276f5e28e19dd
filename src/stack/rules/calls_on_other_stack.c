#include "stack/rules/calls_on_other_stack.h"

#include "stack/rules/stack_pointer_switch.h"
#include "stack/rules/stack_switch.h"

#include <string.h>

/* Calls that are stored. They nest as deep as a program changes stacks without returning. */
enum { CALLS_LIMIT = 64 };

static struct call_on_other_stack *find_call(const struct thread_stack *stack, frame_id caller)
{
    for (size_t i = stack->elsewhere.count; i-- > 0;) {
        struct call_on_other_stack *call = array_at(&stack->elsewhere, i);
        if (call->caller == caller)
            return call;
    }
    return NULL;
}

static void forget_oldest(struct array *calls)
{
    struct call_on_other_stack *elements = calls->elements;
    calls->count--;
    memmove(elements, elements + 1, calls->count * sizeof(*elements));
}

void note_call_elsewhere(struct thread_stack *stack)
{
    if (!is_stack_pointer_move(stack))
        return;
    struct call_on_other_stack *call = find_call(stack, stack->leaf);
    if (call == NULL) {
        if (stack->elsewhere.count == CALLS_LIMIT)
            forget_oldest(&stack->elsewhere);
        call = array_add(&stack->elsewhere);
    }
    *call = (struct call_on_other_stack){stack->leaf, stack->move.from};
}

uint64_t pointer_before_call(const struct thread_stack *stack, frame_id caller)
{
    const struct call_on_other_stack *call = find_call(stack, caller);
    return call != NULL ? call->pointer : 0;
}

bool returns_from_elsewhere(const struct thread_stack *stack, const struct flow_event *event)
{
    return leaf_returns_to(stack, stack->leaf, event->to) && find_call(stack, stack->leaf) != NULL;
}
