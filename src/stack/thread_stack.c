#include "stack/thread_stack.h"

void thread_stack_init(struct thread_stack *stack, const struct code_view *code)
{
    *stack = (struct thread_stack){
        .gaps = array_of(sizeof(struct gap)),
        .segments = array_of(sizeof(struct segment)),
        .inlined_open = array_of(sizeof(inlined_id)),
        .resumed = array_of(sizeof(frame_id)),
        .shared = array_of(sizeof(struct shared_stack)),
        .call_values = array_of(sizeof(uint64_t)),
        .code = *code,
    };
    frame_tree_init(&stack->tree);
    history_init(&stack->history);
    active_functions_init(&stack->open);
    stack_rules_begin(stack, &stack->rules);
}

void thread_stack_free(struct thread_stack *stack)
{
    stack_rules_end(stack, &stack->rules);
    frame_tree_free(&stack->tree);
    history_free(&stack->history);
    active_functions_free(&stack->open);
    array_free(&stack->gaps);
    array_free(&stack->segments);
    array_free(&stack->inlined_open);
    inlined_move_cache_free(&stack->inlined_moves);
    array_free(&stack->resumed);
    array_free(&stack->shared);
    array_free(&stack->call_values);
}

frame_id thread_stack_placeholder(const struct thread_stack *stack)
{
    return thread_stack_parent(stack, frame_tree_root(&stack->tree, stack->leaf));
}

frame_id thread_stack_find(const struct thread_stack *stack, function_id function)
{
    if (active_functions_count(&stack->open, function) == 0)
        return FRAME_NONE;
    frame_id frame = stack->leaf;
    while (thread_stack_frame(stack, frame)->function != function)
        frame = thread_stack_parent(stack, frame);
    return frame;
}

bool thread_stack_has(const struct thread_stack *stack, frame_id frame)
{
    if (active_functions_count(&stack->open, thread_stack_frame(stack, frame)->function) == 0)
        return false;
    frame_id id = stack->leaf;
    while (id != frame && thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER)
        id = thread_stack_parent(stack, id);
    return id == frame;
}

bool thread_stack_is_root(const struct thread_stack *stack, frame_id frame)
{
    frame_id parent = thread_stack_parent(stack, frame);
    return thread_stack_frame(stack, parent)->kind == FRAME_PLACEHOLDER;
}

bool thread_stack_is_start(const struct thread_stack *stack, uint64_t address)
{
    return address != 0 &&
           stack->code.function_start(stack->code.context, stack->now, address) == address;
}

enum { SEGMENTS_LOOKED_BACK = 16, FRAMES_LOOKED_BACK = 4096 };

bool thread_stack_was_open_before(const struct thread_stack *stack, function_id function)
{
    const struct segment *segments = stack->segments.elements;
    size_t last = stack->segments.count, steps = 0;
    for (size_t i = last; i-- > 0 && last - i <= SEGMENTS_LOOKED_BACK;) {
        const struct segment *segment = &segments[i];
        if (!thread_stack_segment_continues(segment))
            return false;
        for (frame_id id = segment->before;
             id != FRAME_NONE && thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER &&
             steps < FRAMES_LOOKED_BACK;
             id = thread_stack_parent(stack, id), steps++)
            if (thread_stack_frame(stack, id)->function == function)
                return true;
    }
    return false;
}
