#include "stack/rules/signals.h"

#include "stack/rules/context_rewrites.h"
#include "stack/rules/kernel_entry.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

void enter_signal_handler(struct thread_stack *stack, const struct flow_event *event,
                          uint64_t interrupted)
{
    begin_context_rewrite(stack, event, interrupted, FUNCTION_UNKNOWN);
}

void enter_restorer(struct thread_stack *stack, function_id function, uint64_t address)
{
    settle_as_handler(stack);
    const struct frame *handler = thread_stack_leaf(stack);
    struct activation restorer = {
        .function = function,
        .kind = FRAME_SIGNAL_RETURN,
        .return_address = handler->return_address,
    };
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    stack_moves_enter(stack, &restorer, address);
}

static bool is_nowhere_open(const struct thread_stack *stack, function_id function)
{
    return active_functions_count(&stack->open, function) == 0 &&
           !thread_stack_was_open_before(stack, function);
}

bool leave_signal_handler(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *restorer = thread_stack_leaf(stack);
    bool starts = thread_stack_is_start(stack, event->to);
    if (restorer->kind == FRAME_FUNCTION && thread_stack_is_root(stack, stack->leaf) && !starts &&
        restorer->function != event->function) {
        /* The segment began in a handler: what it interrupted has not been seen before. */
        stack_moves_discover(stack, event->function, event->to);
        return true;
    }
    if (restorer->kind != FRAME_SIGNAL_RETURN)
        return false;
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    if (continues_at(restorer->return_address, event->to))
        return true;
    /* The next signal was waiting, or the handler has rewritten the context. */
    if (starts || is_nowhere_open(stack, event->function))
        begin_context_rewrite(stack, event, restorer->return_address, restorer->function);
    else
        land(stack, event);
    return true;
}
