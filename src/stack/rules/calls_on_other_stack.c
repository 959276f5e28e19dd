#include "stack/rules/calls_on_other_stack.h"

#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"

#include <string.h>

/* Calls that are stored. They nest as deep as a program changes stacks without returning. */
enum { CALLS_LIMIT = 64 };

static struct array *calls_of(const struct thread_stack *stack)
{
    return &stack->rules.calls_on_other_stack->calls;
}

static struct call_on_other_stack *find_call(const struct thread_stack *stack, frame_id caller)
{
    const struct array *calls = calls_of(stack);
    for (size_t i = calls->count; i-- > 0;) {
        struct call_on_other_stack *call = array_at(calls, i);
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

static bool note_call(struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack_pointer_moved(stack) || stack->leaf == FRAME_NONE)
        return false;
    struct call_on_other_stack *call = find_call(stack, stack->leaf);
    if (call == NULL) {
        if (calls_of(stack)->count == CALLS_LIMIT)
            forget_oldest(calls_of(stack));
        call = array_add(calls_of(stack));
    }
    *call = (struct call_on_other_stack){stack->leaf, stack_pointer_move(stack).from};
    return false;
}

uint64_t calls_on_other_stack_pointer(const struct thread_stack *stack, frame_id caller)
{
    const struct call_on_other_stack *call = find_call(stack, caller);
    return call != NULL ? call->pointer : 0;
}

bool calls_on_other_stack_returns(const struct thread_stack *stack, const struct flow_event *event)
{
    return suspended_stacks_leaf_returns_to(stack, stack->leaf, event->to) &&
           find_call(stack, stack->leaf) != NULL;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.calls_on_other_stack->calls = array_of(sizeof(struct call_on_other_stack));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.calls_on_other_stack->calls);
}

const struct stack_rule calls_on_other_stack_rule = {
    .state_size = sizeof(struct calls_on_other_stack),
    .begin = begin,
    .end = end,
    .follow = {[FLOW_CALL] = note_call},
};
