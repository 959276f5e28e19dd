#include "stack/calls.h"

#include "stack/kernel_entry.h"
#include "stack/signals.h"
#include "stack/unwinding.h"

/* How far beyond the innermost frame of the returned-to function an exact return address is
 * searched for. */
enum { SEARCH_BEYOND = 1024 };

static void begin_in_the_middle(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation root = {.function = event->function, .kind = FRAME_FUNCTION};
    thread_stack_begin(stack, &root, event->to, false);
}

void rule_call(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation called = {
        .function = event->function,
        .kind = FRAME_FUNCTION,
        .return_address = event->next,
    };
    if (stack->leaf == FRAME_NONE) {
        thread_stack_begin(stack, &called, event->to, true);
        return;
    }
    leave_unseen_kernel(stack);
    thread_stack_enter(stack, &called, event->to);
}

/* True when `frame` was pushed by a call to be followed by `address`. What the kernel has pushed
 * (signal handlers) is not ended by a return. */
static bool returns_to(const struct frame *frame, uint64_t address)
{
    return frame->return_address == address && frame->kind == FRAME_FUNCTION;
}

/* The innermost frame that returns to `address`, in function `function`; FRAME_NONE when there is
 * none. */
static frame_id find_by_return_address(const struct thread_stack *stack, uint64_t address,
                                       function_id function)
{
    bool function_passed = false;
    unsigned beyond = 0;
    frame_id id = stack->leaf;
    if (open_functions_count(&stack->open, function) == 0)
        return FRAME_NONE;
    while (beyond < SEARCH_BEYOND) {
        const struct frame *frame = thread_stack_frame(stack, id);
        if (frame->kind == FRAME_PLACEHOLDER)
            return FRAME_NONE;
        if (returns_to(frame, address))
            return id;
        function_passed = function_passed || frame->function == function;
        beyond += function_passed;
        id = frame->parent;
    }
    return FRAME_NONE;
}

static void end_frame(struct thread_stack *stack, frame_id frame, const struct flow_event *event)
{
    if (thread_stack_is_root(stack, frame))
        thread_stack_discover(stack, event->function, event->to);
    else
        thread_stack_return(stack, thread_stack_frame(stack, frame)->parent);
}

/* Several frames end at once: all but `frame` have not returned themselves. */
static void end_frames(struct thread_stack *stack, frame_id frame, const struct flow_event *event)
{
    stack->statistics.unwound++;
    thread_stack_unwind(stack, frame);
    end_frame(stack, frame, event);
}

/* True when the leaf is the root and the event can lead to its caller: to any function if it is not
 * known where the root returns to, to any other if it is. Not to a function's first instruction,
 * which follows no call. */
static bool returns_from_root(const struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (!thread_stack_is_root(stack, stack->leaf))
        return false;
    if (leaf->return_address != 0 && leaf->function == event->function)
        return false;
    return event->function == FUNCTION_UNKNOWN || !thread_stack_is_start(stack, event->to);
}

/* A handler returns to a function that is not running; but a handler can also be left by an
 * exception. */
static bool is_restorer(const struct thread_stack *stack, const struct flow_event *event)
{
    return thread_stack_leaf(stack)->kind == FRAME_SIGNAL &&
           (open_functions_count(&stack->open, event->function) == 0 ||
            thread_stack_is_start(stack, event->to));
}

static void repair_return(struct thread_stack *stack, const struct flow_event *event)
{
    stack->statistics.repaired++;
    if (land_in_open_function(stack, event->function))
        return;
    struct activation landed = {
        .function = event->function,
        .kind = FRAME_FUNCTION,
        .return_address = thread_stack_leaf(stack)->return_address,
    };
    thread_stack_unwind(stack, thread_stack_leaf(stack)->parent);
    thread_stack_enter_inferred(stack, &landed, event->to);
}

void rule_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE) {
        begin_in_the_middle(stack, event);
        return;
    }
    leave_unseen_kernel(stack);
    if (returns_to(thread_stack_leaf(stack), event->to)) {
        end_frame(stack, stack->leaf, event);
        return;
    }
    if (returns_from_root(stack, event)) {
        thread_stack_discover(stack, event->function, event->to);
        return;
    }
    frame_id frame = find_by_return_address(stack, event->to, event->function);
    if (frame != FRAME_NONE)
        end_frames(stack, frame, event);
    else if (stack->root_return_address == event->to)
        thread_stack_discover(stack, event->function, event->to);
    else if (is_restorer(stack, event))
        enter_restorer(stack, event->function, event->to);
    else if (thread_stack_is_start(stack, event->to))
        thread_stack_replace(stack, event->function, event->to);
    else
        repair_return(stack, event);
}

void rule_jump(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE) {
        begin_in_the_middle(stack, event);
        return;
    }
    leave_unseen_kernel(stack);
    if (event->flags & FLOW_DIRECT)
        take_over(stack, event->function, event->to);
    else
        land(stack, event->function, event->to);
}
