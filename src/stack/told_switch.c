#include "stack/told_switch.h"

#include "stack/stack_switch.h"
#include "stack/unwinding.h"

enum {
    /* Bytes that code may push or leave unread between the place where it is told that a stack is
     * left, or goes on, and the place where that happens. */
    PUSHED = 512,
    /* Frames of a parked stack that are looked at. */
    FRAMES_LIMIT = 4096,
};

static void pointer_told(struct thread_stack *stack, uint64_t pointer)
{
    if (stack->pointer_fresh) {
        if (stack->move.from == 0)
            stack->move.from = stack->pointer;
        stack->move.to = pointer;
    }
    stack->pointer = pointer;
    stack->pointer_fresh = true;
}

void rule_stack_pointer(struct thread_stack *stack, const struct flow_event *event)
{
    pointer_told(stack, event->to);
}

void begin_move_by(struct thread_stack *stack, const struct flow_event *event)
{
    bool tells = event->kind == FLOW_RETURN || event->kind == FLOW_JUMP;
    if (tells && event->next != 0)
        pointer_told(stack, event->next);
}

void end_move_by(struct thread_stack *stack, const struct flow_event *event)
{
    bool moves_nothing = event->kind == FLOW_TRAP_PUSH || event->kind == FLOW_TRAP_POP ||
                         event->kind == FLOW_STACK ||
                         (event->kind == FLOW_JUMP && event->flags & FLOW_DIRECT);
    if (moves_nothing)
        return;
    stack->pointer_fresh = false;
    stack->move = (struct stack_move){0};
}

/* How far a stack that was left at `from` has been unwound when it goes on at `to`; UINT64_MAX when
 * it cannot be the same stack. */
static uint64_t distance(uint64_t from, uint64_t to)
{
    return from != 0 && to + PUSHED >= from ? to + PUSHED - from : UINT64_MAX;
}

static bool is_near(const struct stack_move *move)
{
    return distance(move->from, move->to) <= 2 * PUSHED;
}

/* What a search for the stack that goes on has found so far. */
struct nearest {
    uint64_t distance;
    size_t parked; /* index; RUNNING: the one that runs; of a search in vain: NONE */
};

enum { RUNNING = UINT32_MAX, NONE = UINT32_MAX - 1 };

static void consider(struct nearest *nearest, uint64_t distance, size_t parked)
{
    if (distance < nearest->distance)
        *nearest = (struct nearest){distance, parked};
}

/* The stack whose pointer was nearest to where the move went, of those that would return to
 * `address` next, or, if that is 0, of all. Of equal ones the one that was parked last. */
static size_t find_nearest(const struct thread_stack *stack, uint64_t address)
{
    const struct stack_move *move = &stack->move;
    struct nearest nearest = {UINT64_MAX, NONE};
    if (address == 0 || leaf_returns_to(stack, stack->leaf, address))
        consider(&nearest, distance(move->from, move->to), RUNNING);
    for (size_t i = stack->parked.count; i-- > 0;) {
        const struct parked_stack *parked = array_at(&stack->parked, i);
        if (address == 0 || leaf_returns_to(stack, parked->leaf, address))
            consider(&nearest, distance(parked->pointer, move->to), i);
    }
    return nearest.parked;
}

static bool is_open_in(const struct thread_stack *stack, frame_id leaf, function_id function)
{
    for (unsigned i = 0; i < FRAMES_LIMIT; i++, leaf = thread_stack_parent(stack, leaf)) {
        const struct frame *frame = thread_stack_frame(stack, leaf);
        if (frame->kind == FRAME_PLACEHOLDER)
            return false;
        if (frame->function == function)
            return true;
    }
    return false;
}

/* The stack that goes on was never seen, but in it something that runs already. */
static void go_on_in_unknown(struct thread_stack *stack, const struct flow_event *event)
{
    struct activation landed = {.function = event->function, .kind = FRAME_FUNCTION};
    park_running(stack);
    thread_stack_begin(stack, &landed, event->to, false);
}

static bool go_to_function_start(struct thread_stack *stack, const struct flow_event *event)
{
    if (is_near(&stack->move))
        take_over(stack, event->function, event->to);
    else
        switch_to_new(stack, event);
    return true;
}

/* None is known to return there: it is unwound, or left in another way than by the call that its
 * leaf is. */
static bool land_in_nearest(struct thread_stack *stack, const struct flow_event *event)
{
    bool running = open_functions_count(&stack->open, event->function) > 0;
    size_t nearest = find_nearest(stack, 0);
    if (nearest == RUNNING)
        return false;
    if (nearest == NONE) {
        if (!running) /* else a handler on a stack of its own is left */
            go_on_in_unknown(stack, event);
        return !running;
    }
    frame_id leaf = ((const struct parked_stack *)array_at(&stack->parked, nearest))->leaf;
    if (is_open_in(stack, leaf, event->function)) {
        switch_to(stack, nearest, leaf, event);
        return false;
    }
    if (!running)
        go_on_in_unknown(stack, event);
    return !running;
}

bool switch_by_pointer(struct thread_stack *stack, const struct flow_event *event)
{
    if (!is_told_move(stack))
        return false;
    if (thread_stack_is_start(stack, event->to))
        return go_to_function_start(stack, event);
    size_t nearest = find_nearest(stack, event->to);
    if (nearest == RUNNING)
        return false;
    if (nearest == NONE)
        return land_in_nearest(stack, event);
    frame_id leaf = ((const struct parked_stack *)array_at(&stack->parked, nearest))->leaf;
    switch_to(stack, nearest, thread_stack_parent(stack, leaf), event);
    return true;
}
