#include "stack/rules/goroutines.h"

#include "stack/go_runtime.h"
#include "stack/rules/calls_on_other_stack.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_comparison.h"
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

static void add_moment(struct thread_stack *stack, struct goroutine_moment moment)
{
    moment.time = stack->now;
    *(struct goroutine_moment *)array_add(&stack->rules.goroutines->moments) = moment;
}

/* As soon as a goroutine has left its stack, other threads may resume it. */
static bool note_leaving(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_pointer_moved(stack) && stack->leaf != FRAME_NONE &&
        role_of(stack, thread_stack_leaf(stack)->function) == GO_ROLE_WAIT &&
        role_of(stack, event->function) != GO_ROLE_GOEXIT)
        add_moment(stack, (struct goroutine_moment){
                              .kind = GOROUTINE_LEAVES,
                              .pointer = stack_pointer_move(stack).from + RETURN_ADDRESS_SIZE,
                              .frame = thread_stack_parent(stack, stack->leaf),
                          });
    return false;
}

/* The goroutine that has left its stack last continues where its runtime has put it: it was never
 * away. */
static void forget_leaving(struct thread_stack *stack)
{
    struct array *moments = &stack->rules.goroutines->moments;
    const struct goroutine_moment *last =
        moments->count > 0 ? array_at(moments, moments->count - 1) : NULL;
    if (last != NULL && last->kind == GOROUTINE_LEAVES)
        moments->count--;
}

/* Of those that this thread has suspended with the stack pointer that is set, the last one; their number: none. */
static size_t find_suspended(const struct thread_stack *stack, const struct flow_event *event)
{
    size_t count = suspended_stacks_list(stack)->count;
    for (size_t i = count; i-- > 0;) {
        const struct suspended_stack *suspended = array_at(suspended_stacks_list(stack), i);
        if (suspended->pointer + RETURN_ADDRESS_SIZE == stack_pointer_move(stack).to &&
            suspended_stacks_leaf_returns_to(stack, suspended->leaf, event->to))
            return i;
    }
    return count;
}

/* A goroutine continues, or begins, at the stack pointer that is set. */
static void begin_at_pointer(struct thread_stack *stack, const struct flow_event *event)
{
    struct goroutines *state = stack->rules.goroutines;
    size_t suspended = find_suspended(stack, event);
    state->own_segment = stack->segments.count;
    state->own = FRAME_NONE;
    if (suspended < suspended_stacks_list(stack)->count)
        state->own = stack_switch_begin_again(stack, suspended, event);
    else
        stack_switch_begin(stack, event);
    bool begins = thread_stack_is_start(stack, event->to);
    add_moment(stack,
               (struct goroutine_moment){.kind = begins ? GOROUTINE_BEGINS : GOROUTINE_ARRIVES,
                                         .pointer = stack_pointer_move(stack).to,
                                         .frame = stack->leaf});
}

/* The goroutine that ran waits in its leaf, or has `ended`. */
static void go_on_elsewhere(struct thread_stack *stack, bool ended, const struct flow_event *event)
{
    if (ended)
        stack_switch_leave(stack);
    else
        stack_switch_suspend(stack);
    if (stack_pointer_moved(stack))
        begin_at_pointer(stack, event);
    else if (!stack_switch_continue_at(stack, event))
        stack_switch_begin(stack, event);
}

/* The running goroutine's callers are those with which this thread has suspended it, unless it has
 * returned to others since. */
static void learn_own_callers(struct thread_stack *stack)
{
    const struct goroutines *state = stack->rules.goroutines;
    if (state->own == FRAME_NONE || stack->segments.count != state->own_segment + 1)
        return;
    const struct segment *segment = array_at(&stack->segments, state->own_segment);
    struct comparison comparison = stack_comparison_begin(stack, segment, state->own);
    size_t known = comparison.after.frames.count;
    if (known > 0 && known <= comparison.before.frames.count &&
        comparison.before.top != comparison.after.top &&
        stack_comparison_count_agreeing(&comparison, known - 1, known - 1) == known) {
        frame_id outermost = chain_at(&comparison.before, known - 1);
        stack_moves_learn_callers(stack, thread_stack_parent(stack, outermost),
                                  frame_tree_return_address(&stack->tree, outermost));
    }
    stack_comparison_end(&comparison);
}

/* In a caller of the running goroutine. Without the flag the event is from text. */
static void recover(struct thread_stack *stack, const struct flow_event *event)
{
    struct flow_event unwind_target = *event;
    unwind_target.flags |= FLOW_LOADS_STACK;
    if (active_functions_count(&stack->open, event->function) == 0)
        learn_own_callers(stack);
    if (active_functions_count(&stack->open, event->function) > 0) {
        unwinding_land(stack, &unwind_target);
        return;
    }
    thread_stack_count_unwound(stack);
    stack_moves_land(stack, event, (struct unwind_place){event->to, stack_pointer_move(stack).to},
                     FRAME_NONE, false);
}

/* True if the running goroutine, in the leaf, continues at event->to, as far as is known. */
static bool is_own(const struct thread_stack *stack, const struct flow_event *event)
{
    return !stack_pointer_moved(stack) &&
           suspended_stacks_leaf_returns_to(stack, stack->leaf, event->to) &&
           !stack_switch_is_suspended_at(stack, event->to);
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
    if (role == GO_ROLE_RECOVERY || role == GO_ROLE_NEWSTACK)
        forget_leaving(stack);
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
    stack->rules.goroutines->moments = array_of(sizeof(struct goroutine_moment));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.goroutines->moments);
}

const struct stack_rule goroutines_rule = {
    .state_size = sizeof(struct goroutines),
    .begin = begin,
    .end = end,
    .follow = {[FLOW_CALL] = note_leaving, [FLOW_JUMP] = follow_jump},
};
