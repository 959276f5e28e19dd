#include "stack/rules/calls.h"

#include "stack/rules/calls_on_other_stack.h"
#include "stack/rules/context_rewrites.h"
#include "stack/rules/goroutines.h"
#include "stack/rules/kernel_entry.h"
#include "stack/rules/ocaml_traps.h"
#include "stack/rules/signals.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_pointer_switch.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

/* How far beyond the innermost frame of the returned-to function the exact return address is
 * searched for. */
enum { SEARCH_BEYOND = 1024 };

static bool is_local_call(const struct thread_stack *stack, const struct flow_event *event)
{
    return stack->leaf != FRAME_NONE && thread_stack_leaf(stack)->function == event->function &&
           !thread_stack_is_start(stack, event->to);
}

void rule_call(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation called = {
        .function = event->function,
        .kind = is_local_call(stack, event) ? FRAME_LOCAL : FRAME_FUNCTION,
        .return_address = event->next,
    };
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin(stack, &called, event->to, true);
        return;
    }
    leave_unseen_kernel(stack);
    note_call_elsewhere(stack);
    note_goroutine_leaves(stack);
    stack_moves_enter(stack, &called, event->to);
}

/* True if `frame` was pushed by a call whose return address is `address`. Frames pushed by the
 * kernel (signal handlers) do not end by a return. */
static bool returns_to(const struct frame *frame, uint64_t address)
{
    return frame->return_address == address &&
           (frame->kind == FRAME_FUNCTION || frame->kind == FRAME_LOCAL);
}

/* The innermost frame that returns to `address`, in function `function`; FRAME_NONE if there is
 * none. */
static frame_id find_by_return_address(const struct thread_stack *stack, uint64_t address,
                                       function_id function)
{
    bool function_passed = false;
    unsigned beyond = 0;
    frame_id id = stack->leaf;
    if (active_functions_count(&stack->open, function) == 0)
        return FRAME_NONE;
    while (beyond < SEARCH_BEYOND) {
        const struct frame *frame = thread_stack_frame(stack, id);
        if (frame->kind == FRAME_PLACEHOLDER)
            return FRAME_NONE;
        if (returns_to(frame, address))
            return id;
        function_passed = function_passed || frame->function == function;
        beyond += function_passed;
        id = thread_stack_parent(stack, id);
    }
    return FRAME_NONE;
}

/* The caller continues after its call, where the next function may already begin: hand-written code
 * runs from one into the other. */
static void end_frame(struct thread_stack *stack, frame_id frame, const struct flow_event *event)
{
    if (thread_stack_is_root(stack, frame)) {
        stack_moves_discover(stack, event->function, event->to);
        return;
    }
    stack_moves_return(stack, thread_stack_parent(stack, frame));
    take_over(stack, event->function, event->to);
}

/* Several frames end at once: all except `frame` without a return of their own. */
static void end_frames(struct thread_stack *stack, frame_id frame, const struct flow_event *event)
{
    stack_moves_unwind(stack, frame);
    end_frame(stack, frame, event);
}

/* True if the leaf is the root and the event can lead to its caller: to any function if the root's
 * return address is unknown, otherwise to any other function. Not to a function's first
 * instruction, which follows no call. */
static bool returns_from_root(const struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (!thread_stack_is_root(stack, stack->leaf))
        return false;
    if (leaf->return_address != 0 && leaf->function == event->function)
        return false;
    return event->function == FUNCTION_UNKNOWN || !thread_stack_is_start(stack, event->to);
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

/* A local call returns elsewhere: its return address was replaced, and the return is a jump of the
 * function. */
static void jump_by_local_call(struct thread_stack *stack, const struct flow_event *event)
{
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    land(stack, event);
}

/* A return to the leaf's return address. */
static void return_from_leaf(struct thread_stack *stack, const struct flow_event *event)
{
    if (!switch_to_suspended(stack, event))
        end_frame(stack, stack->leaf, event);
}

/* The leaf's callers have just been found. It returns to the first of them, or into the function
 * that it has taken over. */
static void return_without_switch(struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *caller = thread_stack_frame(stack, thread_stack_parent(stack, stack->leaf));
    if (caller->function == event->function || caller->kind == FRAME_PLACEHOLDER)
        end_frame(stack, stack->leaf, event);
    else
        take_over(stack, event->function, event->to);
}

static bool return_from_several(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id frame = find_by_return_address(stack, event->to, event->function);
    if (frame == FRAME_NONE)
        return false;
    if (!land_on_pad(stack, event))
        end_frames(stack, frame, event);
    return true;
}

/* A return to the first instruction of a function. Code that makes a new stack may have its first
 * function begin by a return (makecontext does). If the leaf's caller is unknown, that function may
 * be the restorer, and the leaf a signal handler. */
static void begin_or_replace(struct thread_stack *stack, const struct flow_event *event)
{
    if (is_first_of_new_stack(stack))
        stack_moves_discover(stack, event->function, event->to);
    else if (thread_stack_is_root(stack, stack->leaf))
        take_over(stack, event->function, event->to);
    else
        switch_to_new(stack, event, 0);
}

void rule_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin_at(stack, event, false);
        return;
    }
    leave_unseen_kernel(stack);
    if (raise_to_trap(stack, event) || switch_by_pointer(stack, event))
        return;
    if (returns_to(thread_stack_leaf(stack), event->to) || returns_for_interrupted(stack, event))
        return_from_leaf(stack, event);
    else if (return_to_interrupted(stack, event))
        return;
    else if (was_no_switch(stack, event))
        return_without_switch(stack, event);
    else if (returns_from_root(stack, event))
        stack_moves_discover(stack, event->function, event->to);
    else if (return_from_several(stack, event))
        return;
    else if (thread_stack_leaf(stack)->kind == FRAME_LOCAL)
        jump_by_local_call(stack, event);
    else if (stack->root_return_address == event->to)
        stack_moves_discover(stack, event->function, event->to);
    else if (returns_to_interrupted_start(stack, event))
        stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    else if (is_restorer(stack, event))
        enter_restorer(stack, event->function, event->to);
    else if (switch_to_suspended(stack, event))
        return;
    else if (thread_stack_is_start(stack, event->to))
        begin_or_replace(stack, event);
    else
        land_by_return(stack, event);
}

/* A jump into the middle of a function that is active, or in which a suspended stack waits. */
static void jump_back(struct thread_stack *stack, const struct flow_event *event)
{
    if (event->flags & FLOW_LOADS_STACK && land_on_pad(stack, event))
        return;
    if (returns_to(thread_stack_leaf(stack), event->to))
        return_from_leaf(stack, event);
    else if (return_from_several(stack, event))
        return;
    else if (stack_pointer_stays(stack, event))
        take_over(stack, event->function, event->to);
    else if (!switch_to_suspended(stack, event))
        land(stack, event);
}

void rule_jump(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE) {
        stack_moves_begin_at(stack, event, false);
        return;
    }
    leave_unseen_kernel(stack);
    if (event->flags & FLOW_DIRECT)
        take_over(stack, event->function, event->to);
    else if (raise_to_trap(stack, event) || switch_goroutine(stack, event) ||
             switch_by_pointer(stack, event))
        return;
    else if (stays_in_leaf(stack, event))
        take_over(stack, event->function, event->to);
    else
        jump_back(stack, event);
}
