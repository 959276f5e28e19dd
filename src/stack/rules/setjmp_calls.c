#include "stack/rules/setjmp_calls.h"

/* Programs have few of them; those found first are kept. */
enum { CALLS_LIMIT = 256 };

/* What is known of a call. */
enum protection { NOTHING_KNOWN, PROTECTED, OTHERS_ARE };

static enum protection protection_of(const struct array *calls, uint64_t landing, uint64_t call)
{
    enum protection found = NOTHING_KNOWN;
    for (size_t i = 0; i < calls->count; i++) {
        const struct protected_call *known = array_at(calls, i);
        if (known->landing == landing && known->call == call)
            return PROTECTED;
        if (known->landing == landing)
            found = OTHERS_ARE;
    }
    return found;
}

void protected_calls_learn(struct thread_stack *stack, uint64_t landing, uint64_t call)
{
    struct array *calls = &stack->protected_calls;
    if (calls->count < CALLS_LIMIT && protection_of(calls, landing, call) != PROTECTED)
        *(struct protected_call *)array_add(calls) = (struct protected_call){landing, call};
}

size_t protected_calls_exception(const struct thread_stack *stack, const struct segment *segment,
                                 frame_id leaf, uint64_t address)
{
    if (segment->start != SEGMENT_LANDING || segment->landed.address != address)
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
        call != 0 && protection_of(&stack->protected_calls, address, call) == OTHERS_ARE;
    return excluded ? index : SIZE_MAX;
}
