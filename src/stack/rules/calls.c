/* The rules of calls, and of returns and jumps to where a call returns.
 *
 * A return is matched by its *address*: it ends the frame whose call pushed that address. Names are
 * not enough (recursion, static functions of the same name), and a tail call changes a frame's name
 * but not its return address. The first that applies:
 *   to the leaf's return address            the leaf ends
 *   of the root                             its caller is discovered
 *   to the return address of another frame  that frame and those above it end (a long return),
 *                                           unless an exception continues there (landing_pads.h)
 *   of a local call, elsewhere              a retpoline: the return is its jump
 *
 * The rules asked before and after this one are in the table of stack_rules.h.
 */
#include "stack/rules/context_rewrites.h"
#include "stack/rules/landing_pads.h"
#include "stack/rules/stack_pointer.h"
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

/* A new frame above the leaf. If there is no segment, one begins here: its root is the called
 * function, whose caller will be discovered by its return. */
static bool follow_call(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation called = {
        .function = event->function,
        .kind = is_local_call(stack, event) ? FRAME_LOCAL : FRAME_FUNCTION,
        .return_address = event->next,
    };
    if (stack->leaf == FRAME_NONE)
        stack_moves_begin(stack, &called, event->to, true);
    else
        stack_moves_enter(stack, &called, event->to);
    return true;
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
        stack_switch_discover(stack, event);
        return;
    }
    stack_moves_return(stack, thread_stack_parent(stack, frame));
    stack_moves_replace(stack, event->function, event->to);
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

/* A local call returns elsewhere: its return address was replaced, and the return is a jump of the
 * function. */
static void jump_by_local_call(struct thread_stack *stack, const struct flow_event *event)
{
    stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
    unwinding_land(stack, event);
}

/* A return to the leaf's return address. */
static void return_from_leaf(struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack_switch_to_suspended(stack, event))
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
        stack_moves_replace(stack, event->function, event->to);
}

static bool return_from_several(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id frame = find_by_return_address(stack, event->to, event->function);
    if (frame == FRAME_NONE)
        return false;
    if (!landing_pads_land(stack, event))
        end_frames(stack, frame, event);
    return true;
}

static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (returns_to(thread_stack_leaf(stack), event->to) ||
        context_rewrites_returns_for_interrupted(stack, event))
        return_from_leaf(stack, event);
    else if (stack_switch_from_first(stack, event))
        return true;
    else if (stack_switch_was_none(stack, event))
        return_without_switch(stack, event);
    else if (stack_switch_was_on_top(stack, event))
        end_frame(stack, stack->leaf, event);
    else if (returns_from_root(stack, event))
        stack_switch_discover(stack, event);
    else if (return_from_several(stack, event))
        return true;
    else if (thread_stack_leaf(stack)->kind == FRAME_LOCAL)
        jump_by_local_call(stack, event);
    else if (stack->root_return_address == event->to)
        stack_moves_discover(stack, event->function, event->to);
    else
        return false;
    return true;
}

/* A return by `pop; jmp`, or a jump that does not change the stack. */
static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    if (returns_to(thread_stack_leaf(stack), event->to))
        return_from_leaf(stack, event);
    else if (return_from_several(stack, event))
        return true;
    else if (stack_pointer_stays(stack, event))
        stack_moves_replace(stack, event->function, event->to);
    else
        return false;
    return true;
}

const struct stack_rule calls_rule = {
    .follow = {[FLOW_CALL] = follow_call, [FLOW_RETURN] = follow_return, [FLOW_JUMP] = follow_jump},
};
