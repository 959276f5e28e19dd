#include "stack/rules/forced_unwinding.h"

#include "stack/rules/unwind_targets.h"
#include "stack/stack_moves.h"

/* Between the unwinder and longjmp: phase 2, libc's stop function, wrappers of longjmp. */
enum { FRAMES_ABOVE_UNWINDER = 16 };

struct forced_unwinding {
    /* Where it continued last. */
    frame_id frame; /* FRAME_NONE: nowhere yet */
    uint64_t at;
};

/* The frame of the unwinder; FRAME_NONE if not found. */
static frame_id find_unwinder(const struct thread_stack *stack, const struct flow_event *event)
{
    frame_id id = stack->leaf;
    for (int i = 0; i < FRAMES_ABOVE_UNWINDER; i++) {
        const struct frame *frame = thread_stack_frame(stack, id);
        if (frame->kind == FRAME_PLACEHOLDER || frame->function == event->function)
            return FRAME_NONE;
        frame_id caller = thread_stack_parent(stack, id);
        if (stack->code.forces_unwinding(stack->code.context, frame->function,
                                         thread_stack_frame(stack, caller)->function))
            return id;
        id = caller;
    }
    return FRAME_NONE;
}

static bool is_to_be_cleaned_up(struct thread_stack *stack, frame_id frame,
                                const struct flow_event *event)
{
    const struct forced_unwinding *last = stack->rules.forced_unwinding;
    bool landed_before = last->frame == frame && last->at == event->to;
    return !landed_before && thread_stack_frame(stack, frame)->function == event->function &&
           unwind_targets_may_have_called(stack, frame, event->to);
}

bool forced_unwinding_land(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id id = find_unwinder(stack, event);
    if (id == FRAME_NONE)
        return false;
    while (thread_stack_frame(stack, id)->kind != FRAME_PLACEHOLDER &&
           !is_to_be_cleaned_up(stack, id, event))
        id = thread_stack_parent(stack, id);
    if (thread_stack_frame(stack, id)->kind == FRAME_PLACEHOLDER)
        return false;
    *stack->rules.forced_unwinding = (struct forced_unwinding){.frame = id, .at = event->to};
    stack_moves_unwind(stack, id);
    return true;
}

const struct stack_rule forced_unwinding_rule = {
    .state_size = sizeof(struct forced_unwinding),
};
