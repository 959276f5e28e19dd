#include "stack/rules/called_fibers.h"

#include "stack/rules/stack_pointer.h"
#include "stack/stack_moves.h"

#include <string.h>

enum {
    CALLS_LIMIT = 1 << 16,  /* with different stack pointers; beyond it all are forgotten */
    FIBERS_LIMIT = 1 << 12, /* beyond it the oldest is dropped */
};

static struct called_fibers *state_of(const struct thread_stack *stack)
{
    return stack->rules.called_fibers;
}

/* --- Calls on other stacks. --- */

static void remember_call(struct thread_stack *stack, uint64_t pointer)
{
    struct array *calls = &state_of(stack)->calls;
    size_t index = array_find_key64(calls, pointer);
    struct fiber_call *call = index < calls->count ? array_at(calls, index) : NULL;
    if (call == NULL || call->pointer != pointer) {
        if (calls->count == CALLS_LIMIT)
            index = calls->count = 0;
        call = array_insert(calls, index);
    }
    *call = (struct fiber_call){pointer, stack->leaf};
}

static bool note_call(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack_pointer_moved(stack) && stack->leaf != FRAME_NONE)
        remember_call(stack, stack_pointer_move(stack).from);
    return false;
}

/* The frame on the stack that has made a call on another stack when its stack pointer was `pointer`; FRAME_NONE: none has. */
static frame_id caller_at(const struct thread_stack *stack, uint64_t pointer)
{
    const struct array *calls = &state_of(stack)->calls;
    size_t index = array_find_key64(calls, pointer);
    if (index == calls->count)
        return FRAME_NONE;
    const struct fiber_call *call = array_at(calls, index);
    return call->pointer == pointer && thread_stack_has(stack, call->caller) ? call->caller
                                                                             : FRAME_NONE;
}

/* --- Fibers that were left. --- */

/* Its index; their number: none was left so. */
static size_t find_fiber(const struct thread_stack *stack, uint64_t pointer)
{
    const struct array *fibers = &state_of(stack)->fibers;
    size_t index = fibers->count;
    for (size_t i = fibers->count; i-- > 0 && index == fibers->count;)
        if (((const struct called_fiber *)array_at(fibers, i))->pointer == pointer)
            index = i;
    return index;
}

static struct called_fiber take_fiber(struct thread_stack *stack, size_t index)
{
    struct array *fibers = &state_of(stack)->fibers;
    struct called_fiber *fiber = array_at(fibers, index), taken = *fiber;
    fibers->count--;
    memmove(fiber, fiber + 1, (fibers->count - index) * sizeof *fiber);
    return taken;
}

static void keep_fiber(struct thread_stack *stack, frame_id caller)
{
    struct array *fibers = &state_of(stack)->fibers;
    struct stack_move move = stack_pointer_move(stack);
    size_t older = find_fiber(stack, move.from);
    if (older < fibers->count)
        take_fiber(stack, older);
    else if (fibers->count == FIBERS_LIMIT)
        take_fiber(stack, 0);
    *(struct called_fiber *)array_add(fibers) = (struct called_fiber){
        .pointer = move.from, .caller_pointer = move.to, .caller = caller, .leaf = stack->leaf};
}

/* --- They go away and continue. --- */

static void leave_fiber(struct thread_stack *stack, frame_id caller, const struct flow_event *event)
{
    if (stack->leaf != caller)
        keep_fiber(stack, caller);
    stack_moves_return(stack, caller);
    stack_moves_replace(stack, event->function, event->to);
}

/* The frame `from` and its callers up to `end`, which is not among them, again on top of the leaf. */
static void enter_again(struct thread_stack *stack, frame_id from, frame_id end)
{
    struct array frames = array_of(sizeof(frame_id));
    for (; from != end && thread_stack_frame(stack, from)->kind != FRAME_PLACEHOLDER;
         from = thread_stack_parent(stack, from))
        *(frame_id *)array_add(&frames) = from;
    for (size_t i = frames.count; i-- > 0;) {
        frame_id id = *(const frame_id *)array_at(&frames, i);
        const struct frame *frame = thread_stack_frame(stack, id);
        struct activation activation = {
            .function = frame->function,
            .kind = frame->kind,
            .return_address = frame_tree_return_address(&stack->tree, id),
            .origin = frame_tree_origin(&stack->tree, id),
        };
        stack_moves_enter(stack, &activation, frame_tree_start(&stack->tree, id));
    }
    array_free(&frames);
}

/* On top of the leaf, whose function had the stack pointer `pointer`. */
static void go_on(struct thread_stack *stack, struct called_fiber fiber, uint64_t pointer)
{
    size_t below = find_fiber(stack, fiber.caller_pointer);
    if (below < state_of(stack)->fibers.count) {
        go_on(stack, take_fiber(stack, below), pointer);
        pointer = fiber.caller_pointer;
    }
    const struct frame *caller = thread_stack_frame(stack, fiber.caller);
    stack_moves_replace(stack, caller->function, frame_tree_start(&stack->tree, fiber.caller));
    remember_call(stack, pointer);
    enter_again(stack, fiber.leaf, fiber.caller);
}

/* It leads to a function, with a loaded stack pointer. */
bool called_fibers_follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    struct stack_move move = stack_pointer_move(stack);
    if (!stack_pointer_moved(stack) || !thread_stack_is_start(stack, event->to))
        return false;
    frame_id caller = caller_at(stack, move.to);
    size_t fiber = find_fiber(stack, move.to);
    if (caller == FRAME_NONE && fiber == state_of(stack)->fibers.count)
        return false;
    if (caller != FRAME_NONE) {
        leave_fiber(stack, caller, event);
    } else {
        go_on(stack, take_fiber(stack, fiber), move.from);
        stack_moves_replace(stack, event->function, event->to);
    }
    stack_pointer_branched(stack); /* also if the jump is direct */
    return true;
}

static void forget(struct thread_stack *stack)
{
    state_of(stack)->calls.count = state_of(stack)->fibers.count = 0;
}

static void begin(struct thread_stack *stack)
{
    state_of(stack)->calls = array_of(sizeof(struct fiber_call));
    state_of(stack)->fibers = array_of(sizeof(struct called_fiber));
}

static void end(struct thread_stack *stack)
{
    array_free(&state_of(stack)->calls);
    array_free(&state_of(stack)->fibers);
}

const struct stack_rule called_fibers_rule = {
    .state_size = sizeof(struct called_fibers),
    .begin = begin,
    .end = end,
    .program_changed = forget,
    .follow = {[FLOW_CALL] = note_call, [FLOW_JUMP] = called_fibers_follow_jump},
};
