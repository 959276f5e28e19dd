#include "stack/rules/stack_pointer_switch.h"

#include "stack/rules/calls_on_other_stack.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwinding.h"

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
    stack->stack_is_told = true;
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

/* Of a stack that was left where no pointer was told: farther than any other. */
static const uint64_t unknown_distance = UINT64_MAX - 1;

/* How far a stack is from where it was left when it goes on at `to`; UINT64_MAX when it cannot be
 * the same stack. */
static uint64_t distance(uint64_t from, uint64_t top, uint64_t to)
{
    if (from == 0)
        return unknown_distance;
    if (to + PUSHED < from || (top != 0 && to > top + PUSHED))
        return UINT64_MAX;
    return to > from ? to - from : from - to;
}

static uint64_t distance_of_running(const struct thread_stack *stack)
{
    return distance(stack->move.from, stack->top, stack->move.to);
}

static uint64_t distance_of_parked(const struct thread_stack *stack, size_t index)
{
    const struct parked_stack *parked = array_at(&stack->parked, index);
    return distance(parked->pointer, parked->top, stack->move.to);
}

static frame_id parked_leaf(const struct thread_stack *stack, size_t index)
{
    return ((const struct parked_stack *)array_at(&stack->parked, index))->leaf;
}

/* What a search for the stack that goes on has found so far. */
struct nearest {
    uint64_t distance;
    size_t parked; /* index; RUNNING: the one that runs; of a search in vain: NONE */
};

enum { RUNNING = UINT32_MAX, NONE = UINT32_MAX - 1 };

/* Stacks at an unknown distance go on only where they are known to return. */
static void consider(struct nearest *nearest, uint64_t distance, size_t parked, bool returns_there)
{
    if (distance < nearest->distance && (returns_there || distance != unknown_distance))
        *nearest = (struct nearest){distance, parked};
}

/* The stack whose pointer was nearest to where the move went, of those that would return to
 * `address` next, or, if that is 0, of all. Of equal ones the one that was parked last. */
static struct nearest find_nearest(const struct thread_stack *stack, uint64_t address)
{
    struct nearest nearest = {UINT64_MAX, NONE};
    if (address == 0 || leaf_returns_to(stack, stack->leaf, address))
        consider(&nearest, distance_of_running(stack), RUNNING, address != 0);
    for (size_t i = stack->parked.count; i-- > 0;)
        if (address == 0 || leaf_returns_to(stack, parked_leaf(stack, i), address))
            consider(&nearest, distance_of_parked(stack, i), i, address != 0);
    return nearest;
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
    park_running(stack);
    thread_stack_begin_at(stack, event, false);
}

/* A new stack begins at `pointer`: what was parked in the same place before is no more. */
static void forget_stacks_at(struct thread_stack *stack, uint64_t pointer)
{
    for (size_t i = stack->parked.count; i-- > 0;) {
        const struct parked_stack *parked = array_at(&stack->parked, i);
        if (parked->pointer != 0 && parked->pointer <= pointer && pointer <= parked->top)
            thread_stack_forget_parked(stack, i);
    }
}

/* A signal handler that had switched away returns to its restorer. */
static bool go_on_in_handler(struct thread_stack *stack, const struct flow_event *event)
{
    struct nearest nearest = find_nearest(stack, 0);
    if (nearest.parked >= NONE || nearest.distance > PUSHED)
        return false;
    frame_id leaf = parked_leaf(stack, nearest.parked);
    if (thread_stack_frame(stack, leaf)->kind != FRAME_SIGNAL)
        return false;
    switch_to(stack, nearest.parked, leaf, event);
    return true;
}

/* True when the event is done with. */
static bool go_to_function_start(struct thread_stack *stack, const struct flow_event *event)
{
    if (distance_of_running(stack) <= PUSHED) {
        take_over(stack, event->function, event->to);
        return true;
    }
    if (go_on_in_handler(stack, event))
        return false;
    uint64_t top = stack->move.to;
    switch_to_new(stack, event);
    forget_stacks_at(stack, top);
    stack->top = top;
    return true;
}

/* None is known to return there: it is unwound, or left in another way than by the call that its
 * leaf is. */
static bool land_in_nearest(struct thread_stack *stack, const struct flow_event *event)
{
    bool running = open_functions_count(&stack->open, event->function) > 0;
    size_t nearest = find_nearest(stack, 0).parked;
    if (nearest == RUNNING)
        return false;
    if (nearest != NONE && is_open_in(stack, parked_leaf(stack, nearest), event->function)) {
        switch_to(stack, nearest, parked_leaf(stack, nearest), event);
        return false;
    }
    if (!running) /* else a handler on a stack of its own is left */
        go_on_in_unknown(stack, event);
    return !running;
}

bool switch_by_pointer(struct thread_stack *stack, const struct flow_event *event)
{
    if (!is_told_move(stack) || returns_from_elsewhere(stack, event))
        return false;
    if (thread_stack_is_start(stack, event->to))
        return go_to_function_start(stack, event);
    size_t nearest = find_nearest(stack, event->to).parked;
    if (nearest == RUNNING)
        return false;
    if (nearest == NONE)
        return land_in_nearest(stack, event);
    switch_to(stack, nearest, thread_stack_parent(stack, parked_leaf(stack, nearest)), event);
    return true;
}
