#include "stack/rules/ocaml_traps.h"

#include "stack/rules/context_rewrites.h"

static struct trap *newest_trap(struct thread_stack *stack)
{
    size_t count = stack->traps.count;
    return count > 0 ? array_at(&stack->traps, count - 1) : NULL;
}

void rule_trap_push(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE)
        return;
    *(struct trap *)array_add(&stack->traps) =
        (struct trap){.handler = event->to, .frame = stack->leaf};
}

void rule_trap_pop(struct thread_stack *stack, const struct flow_event *event)
{
    /* If the frame of a pop is not that of the push, its trap is older than the segment. */
    const struct trap *trap = newest_trap(stack);
    if (trap != NULL && trap->frame == stack->leaf)
        stack->traps.count--;
}

bool raise_to_trap(struct thread_stack *stack, const struct flow_event *event)
{
    const struct trap *trap;
    while ((trap = newest_trap(stack)) != NULL && !thread_stack_has(stack, trap->frame))
        stack->traps.count--;
    if (trap == NULL || trap->handler != event->to)
        return false;
    stack->traps.count--;
    if (trap->frame != stack->leaf)
        stack->statistics.unwound++;
    settle_before_unwinding(stack, trap->frame);
    thread_stack_unwind(stack, trap->frame);
    return true;
}
