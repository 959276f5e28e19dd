#include "stack/rules/signals.h"

#include "stack/rules/context_rewrites.h"
#include "stack/rules/kernel_frames.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

void signals_enter_handler(struct thread_stack *stack, const struct flow_event *event,
                           uint64_t interrupted)
{
    context_rewrites_begin(stack, event, interrupted, FUNCTION_UNKNOWN);
}

static void enter_restorer(struct thread_stack *stack, function_id function, uint64_t address)
{
    context_rewrites_settle_handler(stack);
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

bool signals_leave_handler(struct thread_stack *stack, const struct flow_event *event)
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
    if (kernel_frames_continues_at(restorer->return_address, event->to))
        return true;
    /* The next signal was waiting, or the handler has rewritten the context. */
    if (starts || is_nowhere_open(stack, event->function))
        context_rewrites_begin(stack, event, restorer->return_address, restorer->function);
    else
        unwinding_land(stack, event);
    return true;
}

/* A handler returns to a function that is not active; but a handler can also be left by an
 * exception. */
static bool is_restorer(const struct thread_stack *stack, const struct flow_event *event)
{
    return thread_stack_leaf(stack)->kind == FRAME_SIGNAL &&
           (active_functions_count(&stack->open, event->function) == 0 ||
            thread_stack_is_start(stack, event->to));
}

/* A handler can make the interrupted function call another one, which returns to the function's
 * first instruction, as if it had not begun (Go's asyncPreempt). */
static bool returns_to_interrupted_start(const struct thread_stack *stack,
                                         const struct flow_event *event)
{
    const struct frame *caller = thread_stack_frame(stack, thread_stack_parent(stack, stack->leaf));
    return thread_stack_leaf(stack)->kind == FRAME_SIGNAL && caller->kind == FRAME_FUNCTION &&
           caller->function == event->function && thread_stack_is_start(stack, event->to);
}

static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (returns_to_interrupted_start(stack, event))
        stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    else if (is_restorer(stack, event))
        enter_restorer(stack, event->function, event->to);
    else
        return false;
    return true;
}

const struct stack_rule signals_rule = {
    .follow = {[FLOW_RETURN] = follow_return},
};
