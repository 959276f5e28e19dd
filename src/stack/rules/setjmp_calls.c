#include "stack/rules/setjmp_calls.h"

/* Programs have few of them; the first ones found are kept. */
enum { CALLS_LIMIT = 256 };

/* What is known of a call. */
enum protection { NOTHING_KNOWN, PROTECTED, OTHERS_ARE };

static enum protection protection_of(const struct array *calls, uint64_t unwind_target,
                                     uint64_t call)
{
    enum protection found = NOTHING_KNOWN;
    for (size_t i = 0; i < calls->count; i++) {
        const struct setjmp_call *known = array_at(calls, i);
        if (known->unwind_target == unwind_target && known->call == call)
            return PROTECTED;
        if (known->unwind_target == unwind_target)
            found = OTHERS_ARE;
    }
    return found;
}

void setjmp_calls_learn(struct thread_stack *stack, uint64_t unwind_target, uint64_t call)
{
    struct array *calls = &stack->rules.setjmp_calls->calls;
    if (calls->count < CALLS_LIMIT && protection_of(calls, unwind_target, call) != PROTECTED)
        *(struct setjmp_call *)array_add(calls) = (struct setjmp_call){unwind_target, call};
}

size_t setjmp_calls_exception(const struct thread_stack *stack, const struct segment *segment,
                              frame_id leaf, uint64_t address)
{
    if (segment->start != SEGMENT_UNWIND || segment->landed.address != address)
        return SIZE_MAX;
    uint64_t call = 0;
    size_t index = 0;
    for (frame_id id = leaf; id != segment->leaf; index++) {
        if (thread_stack_frame(stack, id)->kind == FRAME_PLACEHOLDER)
            return SIZE_MAX;
        call = frame_tree_return_address(&stack->tree, id);
        id = thread_stack_parent(stack, id);
    }
    bool excluded =
        call != 0 && protection_of(&stack->rules.setjmp_calls->calls, address, call) == OTHERS_ARE;
    return excluded ? index : SIZE_MAX;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.setjmp_calls->calls = array_of(sizeof(struct setjmp_call));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.setjmp_calls->calls);
}

const struct stack_rule setjmp_calls_rule = {
    .state_size = sizeof(struct setjmp_calls),
    .begin = begin,
    .end = end,
};
