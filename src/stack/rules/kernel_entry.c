#include "stack/rules/kernel_entry.h"

#include "stack/rules/kernel_frames.h"
#include "stack/rules/signals.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

static void enter_untraced_kernel(struct thread_stack *stack, const struct flow_event *event,
                                  const struct activation *kernel)
{
    if (stack->leaf == FRAME_NONE) {
        struct activation root = {.function = event->function, .kind = FRAME_FUNCTION};
        stack_moves_begin(stack, &root, event->from, false);
    }
    kernel_frames_leave_unseen(stack);
    stack_moves_enter(stack, kernel, 0);
}

static void enter_traced_kernel(struct thread_stack *stack, const struct flow_event *event,
                                const struct activation *kernel)
{
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin(stack, kernel, event->to, true);
        return;
    }
    kernel_frames_leave_unseen(stack);
    stack_moves_enter(stack, kernel, event->to);
}

static void enter_kernel(struct thread_stack *stack, const struct flow_event *event,
                         struct activation kernel, function_id untraced)
{
    if (event->to == 0) {
        kernel.function = untraced;
        enter_untraced_kernel(stack, event, &kernel);
    } else {
        kernel.function = event->function;
        enter_traced_kernel(stack, event, &kernel);
    }
}

static bool follow_syscall(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation kernel = {.kind = FRAME_SYSCALL, .return_address = event->next};
    enter_kernel(stack, event, kernel, FUNCTION_SYSCALL);
    return true;
}

static bool follow_interrupt(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation kernel = {.kind = FRAME_INTERRUPT, .return_address = event->from};
    enter_kernel(stack, event, kernel, FUNCTION_INTERRUPT);
    return true;
}

void kernel_entry_leave(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *kernel = thread_stack_leaf(stack);
    if (thread_stack_is_root(stack, stack->leaf)) {
        stack_moves_discover(stack, event->function, event->to);
        return;
    }
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    bool from_syscall = kernel->kind == FRAME_SYSCALL;
    if (event->to == kernel->return_address)
        return;
    if (from_syscall && kernel_frames_continues_at(kernel->return_address, event->to))
        return;
    if (from_syscall && signals_leave_handler(stack, event))
        return;
    if (thread_stack_is_start(stack, event->to) ||
        (from_syscall && active_functions_count(&stack->open, event->function) == 0))
        signals_enter_handler(stack, event, kernel->return_address);
    else
        unwinding_land(stack, event);
}

/* The innermost kernel entry; FRAME_NONE if the recording began inside the kernel. */
static frame_id find_kernel_entry(const struct thread_stack *stack)
{
    frame_id id = stack->leaf;
    for (;;) {
        const struct frame *frame = thread_stack_frame(stack, id);
        if (frame->kind == FRAME_SYSCALL || frame->kind == FRAME_INTERRUPT)
            return id;
        if (frame->kind == FRAME_PLACEHOLDER)
            return FRAME_NONE;
        id = thread_stack_parent(stack, id);
    }
}

static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin_at(stack, event, false);
        return true;
    }
    frame_id entry = find_kernel_entry(stack);
    if (entry == FRAME_NONE) {
        stack_moves_discover(stack, event->function, event->to);
        return true;
    }
    stack_moves_return(stack, entry);
    kernel_entry_leave(stack, event);
    return true;
}

const struct stack_rule kernel_entry_rule = {
    .follow =
        {
            [FLOW_SYSCALL] = follow_syscall,
            [FLOW_INTERRUPT] = follow_interrupt,
            [FLOW_KERNEL_RETURN] = follow_return,
        },
};
