#include "stack/rules/kernel_entry.h"

#include "stack/rules/signals.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

/* SYSCALL (0f 05), SYSENTER (0f 34) and INT 0x80 (cd 80) all have two bytes; to repeat one, the
 * kernel goes back by that much (arch/x86/kernel/signal.c, "regs->ip -= 2"). */
enum { SYSCALL_LENGTH = 2 };

bool continues_at(uint64_t return_address, uint64_t address)
{
    return return_address != 0 &&
           (address == return_address || address == return_address - SYSCALL_LENGTH);
}

void leave_unseen_kernel(struct thread_stack *stack)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (!is_outside_frame(leaf))
        return;
    thread_stack_count_repaired(stack);
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
}

static void enter_untraced_kernel(struct thread_stack *stack, const struct flow_event *event,
                                  const struct activation *kernel)
{
    if (stack->leaf == FRAME_NONE) {
        struct activation root = {.function = event->function, .kind = FRAME_FUNCTION};
        stack_moves_begin(stack, &root, event->from, false);
    }
    leave_unseen_kernel(stack);
    stack_moves_enter(stack, kernel, 0);
}

static void enter_traced_kernel(struct thread_stack *stack, const struct flow_event *event,
                                const struct activation *kernel)
{
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin(stack, kernel, event->to, true);
        return;
    }
    leave_unseen_kernel(stack);
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

void rule_syscall(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation kernel = {.kind = FRAME_SYSCALL, .return_address = event->next};
    enter_kernel(stack, event, kernel, FUNCTION_SYSCALL);
}

void rule_interrupt(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation kernel = {.kind = FRAME_INTERRUPT, .return_address = event->from};
    enter_kernel(stack, event, kernel, FUNCTION_INTERRUPT);
}

void leave_kernel(struct thread_stack *stack, const struct flow_event *event)
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
    if (from_syscall && continues_at(kernel->return_address, event->to))
        return;
    if (from_syscall && leave_signal_handler(stack, event))
        return;
    if (thread_stack_is_start(stack, event->to) ||
        (from_syscall && active_functions_count(&stack->open, event->function) == 0))
        enter_signal_handler(stack, event, kernel->return_address);
    else
        land(stack, event);
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

void rule_kernel_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin_at(stack, event, false);
        return;
    }
    frame_id entry = find_kernel_entry(stack);
    if (entry == FRAME_NONE) {
        stack_moves_discover(stack, event->function, event->to);
        return;
    }
    stack_moves_return(stack, entry);
    leave_kernel(stack, event);
}
