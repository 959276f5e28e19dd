#include "stack/rules/goroutines.h"

#include "stack/go_runtime.h"
#include "stack/rules/calls_on_other_stack.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_moves.h"

static enum go_role role_of(const struct thread_stack *stack, function_id function)
{
    return stack->code.go_role(stack->code.context, function);
}

/* How the running goroutine has called the scheduler. */
struct waiting {
    frame_id frame;     /* in which it waits; FRAME_NONE: unknown */
    function_id called; /* by that frame */
};

/* morestack is called by other functions that jump to it, so the called function does not matter.
 */
static struct waiting find_waiting(const struct thread_stack *stack)
{
    struct waiting waiting = {.frame = stack->leaf};
    for (;; waiting.frame = thread_stack_parent(stack, waiting.frame)) {
        const struct frame *frame = thread_stack_frame(stack, waiting.frame);
        if (frame->kind == FRAME_PLACEHOLDER)
            return (struct waiting){.frame = FRAME_NONE};
        if (role_of(stack, frame->function) == GO_ROLE_WAIT)
            return waiting;
        waiting.called = frame->function;
    }
}

static void go_on_after(struct thread_stack *stack, const struct flow_event *event)
{
    if (thread_stack_is_root(stack, stack->leaf))
        stack_moves_discover(stack, event->function, event->to);
    else
        stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
}

/* mcall and morestack leave the stack pointer at their return address, which gogo drops. */
enum { RETURN_ADDRESS_SIZE = 8 };

/* Resumes the goroutine that had this stack pointer when it was suspended. Of several the one that
 * was suspended last: the others have continued in other threads. */
static bool go_on_at_pointer(struct thread_stack *stack, const struct flow_event *event)
{
    for (size_t i = stack_switch_suspended(stack)->count; i-- > 0;) {
        const struct suspended_stack *suspended = array_at(stack_switch_suspended(stack), i);
        if (suspended->pointer + RETURN_ADDRESS_SIZE == stack_pointer_move(stack).to &&
            stack_switch_leaf_returns_to(stack, suspended->leaf, event->to)) {
            stack_switch_resume(stack, i, thread_stack_parent(stack, suspended->leaf), event);
            return true;
        }
    }
    return false;
}

/* As soon as a goroutine has left its stack, other threads may resume it. */
static bool note_leaving(struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack_pointer_moved(stack) || stack->leaf == FRAME_NONE ||
        role_of(stack, thread_stack_leaf(stack)->function) != GO_ROLE_WAIT)
        return false;
    *(struct goroutine_moment *)array_add(&stack->rules.goroutines->departures) =
        (struct goroutine_moment){
            .time = stack->now,
            .pointer = stack_pointer_move(stack).from + RETURN_ADDRESS_SIZE,
            .frame = thread_stack_parent(stack, stack->leaf),
        };
    return false;
}

/* A goroutine continues, or begins, that was not suspended here. */
static void begin_goroutine(struct thread_stack *stack, const struct flow_event *event)
{
    stack_switch_begin(stack, event);
    if (stack_pointer_moved(stack) && !thread_stack_is_start(stack, event->to))
        *(struct goroutine_moment *)array_add(&stack->rules.goroutines->arrivals) =
            (struct goroutine_moment){stack->now, stack_pointer_move(stack).to, stack->leaf};
}

/* The goroutine that ran waits in its leaf, or has `ended`. */
static void go_on_elsewhere(struct thread_stack *stack, bool ended, const struct flow_event *event)
{
    if (ended)
        stack_switch_leave(stack);
    else
        stack_switch_suspend(stack);
    bool found = stack_pointer_moved(stack) ? go_on_at_pointer(stack, event)
                                            : stack_switch_continue_at(stack, event);
    if (!found)
        begin_goroutine(stack, event);
}

/* Without the flag the event is from text. */
static void recover(struct thread_stack *stack, const struct flow_event *event)
{
    struct flow_event unwind_target = *event;
    unwind_target.flags |= FLOW_LOADS_STACK;
    unwinding_land(stack, &unwind_target);
}

/* True if the running goroutine, in the leaf, continues at event->to, as far as is known. */
static bool is_own(const struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack_switch_leaf_returns_to(stack, stack->leaf, event->to))
        return false;
    if (stack_pointer_moved(stack))
        return stack_pointer_move(stack).from + RETURN_ADDRESS_SIZE == stack_pointer_move(stack).to;
    return !stack_switch_is_suspended_at(stack, event->to);
}

/* gogo's jump. */
static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    if (!goroutines_runs_gogo(stack))
        return false;
    frame_id scheduler = thread_stack_parent(stack, stack->leaf);
    enum go_role role = role_of(stack, thread_stack_frame(stack, scheduler)->function);
    struct waiting waiting = find_waiting(stack);
    if (waiting.frame != FRAME_NONE)
        stack_moves_return(stack, waiting.frame);
    stack_pointer_set_left(stack, calls_on_other_stack_pointer(stack, stack->leaf));
    if (role == GO_ROLE_RECOVERY)
        recover(stack, event);
    else if (waiting.frame != FRAME_NONE && (role == GO_ROLE_NEWSTACK || is_own(stack, event)))
        go_on_after(stack, event);
    else
        go_on_elsewhere(stack, role_of(stack, waiting.called) == GO_ROLE_GOEXIT, event);
    return true;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.goroutines->departures = array_of(sizeof(struct goroutine_moment));
    stack->rules.goroutines->arrivals = array_of(sizeof(struct goroutine_moment));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.goroutines->departures);
    array_free(&stack->rules.goroutines->arrivals);
}

const struct stack_rule goroutines_rule = {
    .state_size = sizeof(struct goroutines),
    .begin = begin,
    .end = end,
    .follow = {[FLOW_CALL] = note_leaving, [FLOW_JUMP] = follow_jump},
};
