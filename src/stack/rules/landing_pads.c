#include "stack/rules/landing_pads.h"

#include "stack/rules/context_rewrites.h"

/* The return address by which an unwinder identifies the active call: a handler's frame holds the
 * interrupted instruction itself. */
static uint64_t call_in_progress(const struct frame *callee)
{
    return callee->return_address + (callee->kind == FRAME_SIGNAL);
}

/* The innermost activation whose active call has its landing pad at event->to; FRAME_NONE if there
 * is no landing pad. */
static frame_id find_landing_pad(const struct thread_stack *stack, const struct flow_event *event)
{
    uint32_t left = active_functions_count(&stack->open, event->function);
    frame_id callee = stack->leaf;
    frame_id id = thread_stack_parent(stack, callee);
    left -= thread_stack_frame(stack, callee)->function == event->function;
    while (left > 0) {
        if (thread_stack_frame(stack, id)->function == event->function) {
            left--;
            uint64_t call = call_in_progress(thread_stack_frame(stack, callee));
            if (stack->code.landing_pad(stack->code.context, stack->now, call) == event->to)
                return id;
        }
        callee = id;
        id = thread_stack_parent(stack, id);
    }
    return FRAME_NONE;
}

bool landing_pads_land(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id frame = find_landing_pad(stack, event);
    if (frame != FRAME_NONE)
        context_rewrites_unwind(stack, frame);
    return frame != FRAME_NONE;
}

/* The unwinder jumps to it. */
static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    return event->flags & FLOW_LOADS_STACK && landing_pads_land(stack, event);
}

const struct stack_rule landing_pads_rule = {
    .follow = {[FLOW_JUMP] = follow_jump},
};
