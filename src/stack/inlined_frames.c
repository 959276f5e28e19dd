#include "stack/inlined_frames.h"

void inlined_frames_add(struct thread_stack *stack, frame_id frame)
{
    while (stack->inlined_open.count <= frame)
        array_add(&stack->inlined_open);
}

bool inlined_frames_find(const struct thread_stack *stack, frame_id frame, uint64_t address,
                         inlined_id *inlined)
{
    return stack->inlined.find != NULL &&
           stack->inlined.find(stack->inlined.context, thread_stack_frame(stack, frame)->function,
                               frame_tree_start(&stack->tree, frame), address, inlined);
}

void inlined_frames_learn(struct thread_stack *stack, frame_id frame, uint64_t address,
                          bool interrupted)
{
    inlined_id inlined;
    if (address != 0 &&
        inlined_frames_find(stack, frame, interrupted ? address : address - 1, &inlined))
        inlined_frames_set(stack, frame, inlined);
}
