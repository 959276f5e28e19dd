/* The rules of switches between stacks in recordings with the stack pointer (stack_pointer.h).
 *
 * A return or an indirect jump that ends a move may continue in another stack. The pointer decides in which, because a
 * stack continues about where it was suspended:
 *   to the first instruction of a function,     the stack that was left just there, with that function on top; if none
 *   far away                                    was, a new stack begins
 *   to where the leaf of a suspended or the     the one whose pointer was nearest
 *   running stack would return
 *   elsewhere                                   the one whose pointer was nearest below: it is
 *                                               unwound; a goroutine's leaf that returns does so
 *   to memory that stacks share                 the one with the number that is recorded, wherever that leads
 *
 * The ordinary rules then decide where control continues in that stack.
 *
 * Recordings of real hardware have no stack pointer: see stack_switch.h.
 */
#include "stack/rules/stack_pointer_switch.h"

#include "base/usual_numbers.h"
#include "stack/rules/calls_on_other_stack.h"
#include "stack/rules/captured_stacks.h"
#include "stack/rules/handed_over.h"
#include "stack/rules/recorded_callers.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwinding.h"
#include "stack/stack_comparison.h"
#include "stack/stack_moves.h"

enum {
    /* Bytes that code may push, or leave unread, between the point where the pointer is recorded
     * when a stack is left or continues, and the point where that happens. */
    PUSHED = 512,
    /* Bytes of the innermost frame, which has called and is returned to. */
    FRAME = 4096,
    RETURN_ADDRESSES = 16, /* bytes that nearly all code pops between these points at most */
    /* Bytes that may be unwound of a stack, where others may exist that were never seen; of each frame of a suspended one:
     * stacks can be as small, and lie side by side. */
    UNWOUND = 16 << 10,
    FRAME_UNWOUND = 1024,
    LARGEST_STACK = 1 << 30, /* of Go's goroutines (runtime.maxstacksize) */
    /* Frames of a suspended stack that are examined. */
    FRAMES_LIMIT = 4096,
};

/* Of a stack that was left without a recorded pointer: greater than any other. */
static const uint64_t unknown_distance = UINT64_MAX - 1;

/* The distance between where a stack was left and `to`, where it would continue; UINT64_MAX if it
 * cannot be the same stack. */
static uint64_t distance(uint64_t from, uint64_t limit, uint64_t to)
{
    if (from == 0)
        return unknown_distance;
    if (to + PUSHED < from || (limit != 0 && to > limit + PUSHED))
        return UINT64_MAX;
    return to > from ? to - from : from - to;
}

static uint64_t distance_of_running(const struct thread_stack *stack)
{
    return distance(stack_pointer_move(stack).from, stack_switch_limit(stack),
                    stack_pointer_move(stack).to);
}

static uint64_t distance_of_suspended(const struct thread_stack *stack, size_t index)
{
    const struct suspended_stack *suspended = array_at(suspended_stacks_list(stack), index);
    uint64_t limit = suspended->top != 0 ? suspended->top + suspended->further : 0;
    return distance(suspended->pointer, limit, stack_pointer_move(stack).to);
}

static frame_id suspended_leaf(const struct thread_stack *stack, size_t index)
{
    return ((const struct suspended_stack *)array_at(suspended_stacks_list(stack), index))->leaf;
}

/* False: it is copied away, and the one that continues has another number or none. */
static bool may_continue(const struct thread_stack *stack, size_t index)
{
    const struct suspended_stack *suspended = array_at(suspended_stacks_list(stack), index);
    return suspended->number == stack_pointer_move(stack).continues;
}

/* The best stack found so far. */
struct nearest_stack {
    uint64_t distance;
    size_t suspended; /* index; RUNNING: the one that runs; NONE: nothing found */
};

enum { RUNNING = UINT32_MAX, NONE = UINT32_MAX - 1 };

/* Stacks at an unknown distance qualify only by their return address. */
static void consider(struct nearest_stack *nearest, uint64_t distance, size_t suspended,
                     bool returns_there)
{
    if (distance < nearest->distance && (returns_there || distance != unknown_distance))
        *nearest = (struct nearest_stack){distance, suspended};
}

/* True if the stack whose leaf is `leaf` can return from that to `address`, by that distance. */
static bool can_return(const struct thread_stack *stack, frame_id leaf, uint64_t address,
                       uint64_t distance)
{
    return suspended_stacks_leaf_returns_to(stack, leaf, address) &&
           (distance <= FRAME || distance == unknown_distance);
}

/* The stack whose pointer was nearest to where the move went, of those that would return to
 * `address` next, or, if that is 0, of all. Of equal ones the one that was suspended last. */
static struct nearest_stack find_nearest(const struct thread_stack *stack, uint64_t address)
{
    struct nearest_stack nearest = {UINT64_MAX, NONE};
    uint64_t running = distance_of_running(stack);
    if (address == 0 || can_return(stack, stack->leaf, address, running))
        consider(&nearest, running, RUNNING, address != 0);
    for (size_t i = suspended_stacks_list(stack)->count; i-- > 0;) {
        uint64_t distance = distance_of_suspended(stack, i);
        if (!may_continue(stack, i))
            continue;
        if (address == 0 || can_return(stack, suspended_leaf(stack, i), address, distance))
            consider(&nearest, distance, i, address != 0);
    }
    return nearest;
}

/* Whether control may land in a frame of `function` of the stack with that leaf. Not in an outermost one that has only been
 * named: a new stack begins with that function, in the same memory. */
static bool may_land_in(const struct thread_stack *stack, frame_id leaf, function_id function)
{
    for (unsigned i = 0; i < FRAMES_LIMIT; i++, leaf = thread_stack_parent(stack, leaf)) {
        const struct frame *frame = thread_stack_frame(stack, leaf);
        if (frame->kind == FRAME_PLACEHOLDER)
            return false;
        if (frame->function == function)
            return !thread_stack_is_root(stack, leaf) || !recorded_callers_named(stack, leaf);
    }
    return false;
}

/* The stack that continues was never seen: it begins at a label inside a function, or was suspended before the first
 * event. */
static void go_on_in_unknown(struct thread_stack *stack, const struct flow_event *event)
{
    stack_switch_to_new(stack, event, stack_pointer_move(stack).to);
}

/* A signal handler that had switched stacks returns to its restorer. */
static bool go_on_in_handler(struct thread_stack *stack, const struct flow_event *event)
{
    struct nearest_stack nearest = find_nearest(stack, 0);
    if (nearest.suspended >= NONE || nearest.distance > PUSHED)
        return false;
    frame_id leaf = suspended_leaf(stack, nearest.suspended);
    if (thread_stack_frame(stack, leaf)->kind != FRAME_SIGNAL)
        return false;
    stack_switch_to(stack, nearest.suspended, leaf, event);
    return true;
}

/* True if the pointer is where the suspended stack was left, and no new stack begins in its memory: that would begin at its
 * top. */
static bool is_left_at(const struct suspended_stack *suspended, uint64_t pointer)
{
    bool there = suspended->pointer != 0 && pointer >= suspended->pointer &&
                 pointer - suspended->pointer <= RETURN_ADDRESSES;
    return there && (suspended->top == 0 || pointer + RETURN_ADDRESSES < suspended->top);
}

/* A suspended stack continues with a function on top of it, which returns for the leaf (Boost.Context's ontop_fcontext).
 */
static bool go_on_with_function(struct thread_stack *stack, const struct flow_event *event)
{
    for (size_t i = suspended_stacks_list(stack)->count; i-- > 0;) {
        if (!may_continue(stack, i) ||
            !is_left_at(array_at(suspended_stacks_list(stack), i), stack_pointer_move(stack).to))
            continue;
        frame_id leaf = suspended_leaf(stack, i);
        stack_switch_to(stack, i, leaf, event);
        stack_moves_replace(stack, event->function, event->to);
        return true;
    }
    return false;
}

/* True if the event is complete. */
static bool go_to_function_start(struct thread_stack *stack, const struct flow_event *event)
{
    if (distance_of_running(stack) <= PUSHED) {
        stack_moves_replace(stack, event->function, event->to);
        return true;
    }
    if (go_on_in_handler(stack, event))
        return false;
    struct stack_split left = handed_over_split(stack);
    if (!go_on_with_function(stack, event))
        stack_switch_to_new(stack, event, stack_pointer_move(stack).to);
    handed_over_part(stack, left);
    return true;
}

bool stack_pointer_switch_to_function(struct thread_stack *stack, const struct flow_event *event)
{
    bool moves = event->flags & FLOW_LOADS_STACK && stack_pointer_moved(stack) &&
                 thread_stack_is_start(stack, event->to) && go_to_function_start(stack, event);
    if (moves)
        stack_pointer_branched(stack);
    return moves;
}

static bool runs_handler(const struct thread_stack *stack)
{
    frame_id frame = stack->leaf;
    for (unsigned i = 0; i < FRAMES_LIMIT; i++, frame = thread_stack_parent(stack, frame)) {
        uint32_t kind = thread_stack_frame(stack, frame)->kind;
        if (kind == FRAME_SIGNAL || kind == FRAME_PLACEHOLDER)
            return kind == FRAME_SIGNAL;
    }
    return false;
}

/* How far a suspended stack may be unwound, up to a frame of `function`. */
static uint64_t unwound_at_most(const struct thread_stack *stack, frame_id leaf,
                                function_id function)
{
    uint64_t bytes = PUSHED;
    for (; bytes < UNWOUND; bytes += FRAME_UNWOUND, leaf = thread_stack_parent(stack, leaf)) {
        const struct frame *frame = thread_stack_frame(stack, leaf);
        if (frame->kind == FRAME_PLACEHOLDER || frame->function == function)
            return bytes;
    }
    return UNWOUND;
}

/* Though the program may have no other stack: the running one is not as large, or the leaf, which returns, has no frame as
 * large. */
static bool must_be_another(const struct thread_stack *stack, const struct flow_event *event,
                            uint64_t distance)
{
    return distance > LARGEST_STACK ||
           (event->kind == FLOW_RETURN &&
            suspended_stacks_leaf_returns_to(stack, stack->leaf, event->to));
}

/* Whether the nearest stack is too far away for control to land in its frame of event->function, and others may exist that
 * were never seen. */
static bool may_be_unseen(const struct thread_stack *stack, const struct nearest_stack *nearest,
                          const struct flow_event *event)
{
    uint64_t limit = UNWOUND;
    if (nearest->suspended < NONE)
        limit = unwound_at_most(stack, suspended_leaf(stack, nearest->suspended), event->function);
    if (!stack_switch_misses_stacks(stack) || nearest->distance <= limit || stack->open.has_gogo)
        return false;
    return nearest->suspended == NONE || !suspended_stacks_none(stack) ||
           must_be_another(stack, event, nearest->distance);
}

/* No stack is known to return there: the nearest one is unwound, or was left in another way than by
 * the call that is its leaf. */
static bool land_in_nearest(struct thread_stack *stack, const struct flow_event *event)
{
    bool running = (active_functions_count(&stack->open, event->function) > 0 &&
                    may_land_in(stack, stack->leaf, event->function)) ||
                   stack_switch_may_be_further_out(stack, event->function);
    struct nearest_stack found = find_nearest(stack, 0);
    size_t nearest = found.suspended;
    bool unseen = may_be_unseen(stack, &found, event);
    if (nearest == RUNNING && ((running && !unseen) || found.distance <= PUSHED))
        return false;
    if (nearest < NONE && !unseen &&
        may_land_in(stack, suspended_leaf(stack, nearest), event->function)) {
        stack_switch_to(stack, nearest, suspended_leaf(stack, nearest), event);
        return false;
    }
    bool elsewhere = unseen || (nearest == NONE && !stack->open.has_gogo);
    bool unknown = !running || nearest == RUNNING || (elsewhere && !runs_handler(stack));
    bool captured = unknown && nearest == RUNNING && captured_stacks_land(stack, event);
    if (unknown && !captured) /* else a handler on a stack of its own is left */
        go_on_in_unknown(stack, event);
    return unknown;
}

/* The leaf returns to its caller, and other goroutines continue by gogo's jump: it has called on another stack, and had loaded
 * the stack pointer in a way that is not recorded (Go's systemstack, from a register). */
static bool goroutine_returns(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->kind == FLOW_RETURN && stack->open.has_gogo &&
           suspended_stacks_leaf_returns_to(stack, stack->leaf, event->to);
}

/* False if the suspended stack has run elsewhere since it was left, as far as a few such switches show; or if it may be one that
 * was never seen, in the same memory: fibers can share one, and are copied there. */
static bool is_as_it_was_left(struct thread_stack *stack, const struct suspended_stack *suspended)
{
    if (suspended->pointer == 0 || stack->open.has_gogo)
        return true;
    struct array *distances = &stack->rules.stack_pointer_switch->distances;
    function_id left = thread_stack_frame(stack, suspended->leaf)->function;
    function_id continues = thread_stack_leaf(stack)->function;
    uint64_t distance = stack_pointer_move(stack).to - suspended->pointer;
    bool must_be = distance <= RETURN_ADDRESSES || !stack_switch_misses_stacks(stack) ||
                   usual_numbers_is_sure(distances, left, continues, distance);
    return usual_numbers_see(distances, left, continues, distance) && must_be;
}

/* Whether another stack was left just there, too, in the same place, and differs: one of the two has been copied away since. */
static bool shares_its_place(const struct thread_stack *stack,
                             const struct suspended_stack *suspended)
{
    const struct array *list = suspended_stacks_list(stack);
    bool unseen = stack_switch_misses_stacks(stack);
    if (suspended->pointer == 0 || (!unseen && !stack->rules.stack_pointer_switch->copies))
        return false;
    for (size_t i = list->count; i-- > 0;) {
        const struct suspended_stack *other = array_at(list, i);
        if (other->pointer == suspended->pointer &&
            !stack_comparison_are_alike(stack, suspended->leaf, other->leaf))
            return true;
    }
    return false;
}

/* The index of the newest one that has the number of the stack which continues; their count: none has. */
static size_t find_numbered(const struct thread_stack *stack)
{
    size_t count = suspended_stacks_list(stack)->count, i = count;
    while (i > 0 && !may_continue(stack, i - 1))
        i--;
    return i > 0 ? i - 1 : count;
}

/* The same, if that has a number. */
static bool go_on_in_numbered(struct thread_stack *stack, const struct flow_event *event)
{
    size_t index = find_numbered(stack);
    frame_id leaf = FRAME_NONE;
    if (index < suspended_stacks_list(stack)->count)
        leaf = suspended_leaf(stack, index);
    if (leaf != FRAME_NONE && suspended_stacks_leaf_returns_to(stack, leaf, event->to)) {
        stack_switch_to(stack, index, thread_stack_parent(stack, leaf), event);
        return true;
    }
    if (leaf != FRAME_NONE && may_land_in(stack, leaf, event->function)) {
        stack_switch_to(stack, index, leaf, event);
        return false;
    }
    go_on_in_unknown(stack, event);
    return true;
}

/* Of those that were left there; none may be, if some were never seen. */
static void go_on_in_one_of_several(struct thread_stack *stack, uint64_t pointer,
                                    const struct flow_event *event)
{
    if (stack_switch_misses_stacks(stack))
        go_on_in_unknown(stack, event);
    else
        stack_switch_to_one_left_at(stack, pointer, event);
}

/* A stack in whose memory another one has begun has not ended if it is the only one that was left where a stack continues. Then
 * stacks are copied away, and any that is covered may continue. */
static void find_copied_away(struct thread_stack *stack, const struct flow_event *event)
{
    struct stack_pointer_switch *state = stack->rules.stack_pointer_switch;
    uint64_t pointer = stack_pointer_move(stack).to;
    if (stack_switch_misses_stacks(stack) ||
        (!state->copies && suspended_stacks_has_left_at(stack, pointer, event->to)))
        return;
    if (suspended_stacks_uncover(stack, pointer, event->to))
        state->copies = true;
}

/* A return or an indirect jump that ends a move: switches to the stack that continues. False: the
 * rules asked next apply in that stack. */
static bool follow_move(struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack_pointer_moved(stack) || calls_on_other_stack_returns(stack, event))
        return false;
    if (thread_stack_is_start(stack, event->to))
        return go_to_function_start(stack, event);
    if (stack_pointer_move(stack).continues != 0)
        return go_on_in_numbered(stack, event);
    find_copied_away(stack, event);
    size_t nearest = find_nearest(stack, event->to).suspended;
    if (nearest == RUNNING)
        return false;
    if (nearest == NONE)
        return !goroutine_returns(stack, event) && land_in_nearest(stack, event);
    const struct suspended_stack *suspended = array_at(suspended_stacks_list(stack), nearest);
    if (shares_its_place(stack, suspended))
        go_on_in_one_of_several(stack, suspended->pointer, event);
    else if (is_as_it_was_left(stack, suspended))
        stack_switch_to(stack, nearest, thread_stack_parent(stack, suspended->leaf), event);
    else
        stack_switch_to_unknown(stack, nearest, event);
    return true;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.stack_pointer_switch->distances = usual_numbers_none();
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.stack_pointer_switch->distances);
}

const struct stack_rule stack_pointer_switch_rule = {
    .state_size = sizeof(struct stack_pointer_switch),
    .begin = begin,
    .end = end,
    .follow = {[FLOW_RETURN] = follow_move, [FLOW_JUMP] = follow_move},
};
