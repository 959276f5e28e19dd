#include "stack/rules/ocaml_traps.h"

#include "stack/rules/context_rewrites.h"
#include "stack/stack_moves.h"

static struct array *traps_of(struct thread_stack *stack)
{
    return &stack->rules.ocaml_traps->traps;
}

static struct trap *newest_trap(struct thread_stack *stack)
{
    const struct array *traps = traps_of(stack);
    return traps->count > 0 ? array_at(traps, traps->count - 1) : NULL;
}

static void drop_newest(struct thread_stack *stack)
{
    traps_of(stack)->count--;
}

void rule_trap_push(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE)
        return;
    *(struct trap *)array_add(traps_of(stack)) =
        (struct trap){.handler = event->to, .frame = stack->leaf};
}

void rule_trap_pop(struct thread_stack *stack, const struct flow_event *event)
{
    /* If the frame of a pop is not that of the push, its trap is older than the segment. */
    const struct trap *trap = newest_trap(stack);
    if (trap != NULL && trap->frame == stack->leaf)
        drop_newest(stack);
}

bool raise_to_trap(struct thread_stack *stack, const struct flow_event *event)
{
    const struct trap *trap;
    while ((trap = newest_trap(stack)) != NULL && !thread_stack_has(stack, trap->frame))
        drop_newest(stack);
    if (trap == NULL || trap->handler != event->to)
        return false;
    drop_newest(stack);
    settle_before_unwinding(stack, trap->frame);
    stack_moves_unwind(stack, trap->frame);
    return true;
}

static void drop_all(struct thread_stack *stack, struct segment *segment)
{
    traps_of(stack)->count = 0;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.ocaml_traps->traps = array_of(sizeof(struct trap));
}

static void end(struct thread_stack *stack)
{
    array_free(traps_of(stack));
}

const struct stack_rule ocaml_traps_rule = {
    .state_size = sizeof(struct ocaml_traps),
    .begin = begin,
    .end = end,
    .segment_ended = drop_all,
};
