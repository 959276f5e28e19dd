#include "stack/rules/ocaml_traps.h"

#include "stack/rules/context_rewrites.h"

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

static bool follow_push(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf != FRAME_NONE)
        *(struct trap *)array_add(traps_of(stack)) =
            (struct trap){.handler = event->to, .frame = stack->leaf};
    return true;
}

static bool follow_pop(struct thread_stack *stack, const struct flow_event *event)
{
    /* If the frame of a pop is not that of the push, its trap is older than the segment. */
    const struct trap *trap = newest_trap(stack);
    if (trap != NULL && trap->frame == stack->leaf)
        drop_newest(stack);
    return true;
}

/* True if control went to the handler of the newest trap. */
static bool raise_to_newest(struct thread_stack *stack, const struct flow_event *event)
{
    const struct trap *trap;
    while ((trap = newest_trap(stack)) != NULL && !thread_stack_has(stack, trap->frame))
        drop_newest(stack);
    if (trap == NULL || trap->handler != event->to)
        return false;
    drop_newest(stack);
    context_rewrites_unwind(stack, trap->frame);
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
    .follow =
        {
            [FLOW_TRAP_PUSH] = follow_push,
            [FLOW_TRAP_POP] = follow_pop,
            [FLOW_RETURN] = raise_to_newest,
            [FLOW_JUMP] = raise_to_newest,
        },
};
