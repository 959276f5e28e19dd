#include "stack/rules/unwinding.h"

#include "stack/rules/context_rewrites.h"
#include "stack/rules/forced_unwinding.h"
#include "stack/rules/setjmp_calls.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwind_target_pointers.h"
#include "stack/rules/unwind_targets.h"
#include "stack/stack_moves.h"

void take_over(struct thread_stack *stack, function_id function, uint64_t address)
{
    if (thread_stack_leaf(stack)->function != function)
        stack_moves_replace(stack, function, address);
}

/* A jump back to the function that was called in this frame returns from its cold part, even if the
 * same function is active further out. */
static bool returns_from_cold_part(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->function != FUNCTION_UNKNOWN &&
           frame_tree_origin(&stack->tree, stack->leaf) == event->function;
}

bool stays_in_leaf(const struct thread_stack *stack, const struct flow_event *event)
{
    const struct frame *leaf = thread_stack_leaf(stack);
    if (event->flags & FLOW_LOADS_STACK)
        return false;
    if (leaf->function == event->function || returns_from_cold_part(stack, event))
        return true;
    if (active_functions_count(&stack->open, event->function) == 0 &&
        stack_switch_none_is_suspended(stack) &&
        !thread_stack_was_open_before(stack, event->function))
        return true;
    return thread_stack_is_start(stack, event->to);
}

static void unwind_to(struct thread_stack *stack, frame_id frame)
{
    settle_before_unwinding(stack, frame);
    stack_moves_unwind(stack, frame);
}

/* The return address by which an unwinder identifies the active call: a handler's frame holds the
 * interrupted instruction itself. */
static uint64_t call_in_progress(const struct frame *callee)
{
    return callee->return_address + (callee->kind == FRAME_SIGNAL);
}

/* The innermost activation whose active call has its landing pad at event->to; FRAME_NONE if there
 * is none. */
static frame_id find_landing_pad(const struct thread_stack *stack, const struct flow_event *event)
{
    uint32_t left = active_functions_count(&stack->open, event->function);
    frame_id callee = stack->leaf;
    frame_id id = thread_stack_parent(stack, callee);
    left -= thread_stack_frame(stack, callee)->function == event->function;
    while (left > 0) {
        if (thread_stack_frame(stack, id)->function == event->function) {
            left--;
            uint64_t call = call_in_progress(thread_stack_frame(stack, callee));
            if (stack->code.landing_pad(stack->code.context, stack->now, call) == event->to)
                return id;
        }
        callee = id;
        id = thread_stack_parent(stack, id);
    }
    return FRAME_NONE;
}

bool land_on_pad(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id frame = find_landing_pad(stack, event);
    if (frame != FRAME_NONE)
        unwind_to(stack, frame);
    return frame != FRAME_NONE;
}

/* Where control has continued. */
static struct unwind_place place_of(const struct thread_stack *stack,
                                    const struct flow_event *event)
{
    return (struct unwind_place){event->to, stack_pointer_move(stack).to};
}

/* The activations of a function in which control may continue. */
struct activations {
    frame_id innermost;     /* FRAME_NONE: there is none */
    bool several;           /* there are others */
    bool called_from_there; /* only those that have called setjmp from there were counted */
    uint64_t call;          /* return address of the active call in all of them; 0: unknown */
};

static void count_activation(struct activations *activations, frame_id id, uint64_t call)
{
    if (activations->innermost == FRAME_NONE) {
        activations->innermost = id;
        activations->call = call;
        return;
    }
    activations->several = true;
    if (activations->call != call)
        activations->call = 0;
}

/* The activations among the frames in `range`. */
static struct activations find_in_range(struct thread_stack *stack, const struct flow_event *event,
                                        struct unwind_range range)
{
    struct activations any = {.innermost = FRAME_NONE}, callers = {.called_from_there = true};
    uint32_t left = active_functions_count(&stack->open, event->function);
    bool only = left == 1;
    uint64_t call = 0;
    frame_id id = stack->leaf;
    for (size_t i = 0; left > 0 && i < range.end && !callers.several; i++) {
        bool is_activation = thread_stack_frame(stack, id)->function == event->function;
        left -= is_activation;
        if (is_activation && is_in_range(&range, i)) {
            count_activation(&any, id, call);
            if (!only && unwind_targets_may_have_called(stack, id, event->to))
                count_activation(&callers, id, call);
        }
        call = frame_tree_return_address(&stack->tree, id);
        id = thread_stack_parent(stack, id);
    }
    return callers.innermost != FRAME_NONE ? callers : any;
}

/* `innermost` is FRAME_NONE if the frame must be further out than the segment is known. */
static struct activations find_activations(struct thread_stack *stack,
                                           const struct flow_event *event)
{
    struct unwind_place landed = place_of(stack, event);
    struct unwind_range range = unwind_target_pointers_range(stack, stack->leaf, landed);
    const struct segment *segment = array_at(&stack->segments, stack->segments.count - 1);
    if (landed.pointer == 0)
        range.except = setjmp_calls_exception(stack, segment, stack->leaf, event->to);
    struct activations activations = find_in_range(stack, event, range);
    bool limited = range.end != SIZE_MAX;
    if (activations.innermost == FRAME_NONE && limited)
        activations = find_in_range(stack, event, (struct unwind_range){0, SIZE_MAX, SIZE_MAX});
    else if (!activations.called_from_there && !limited)
        activations.several =
            activations.several || thread_stack_was_open_before(stack, event->function);
    return activations;
}

static void land_in_active_function(struct thread_stack *stack, const struct flow_event *event)
{
    struct activations activations = find_activations(stack, event);
    bool entered = activations.innermost != FRAME_NONE &&
                   thread_stack_frame(stack, activations.innermost)->return_address != 0;
    if (activations.called_from_there && entered && activations.call != 0)
        setjmp_calls_learn(stack, event->to, activations.call);
    if (activations.innermost != FRAME_NONE && !activations.several) {
        unwind_to(stack, activations.innermost);
        return;
    }
    thread_stack_count_unwound(stack);
    frame_id fallback = activations.innermost != FRAME_NONE
                            ? thread_stack_parent(stack, activations.innermost)
                            : thread_stack_placeholder(stack);
    stack_moves_land(stack, event, place_of(stack, event), fallback, activations.called_from_there);
}

/* The leaf's caller is known, but not what runs in the leaf's place. */
static void land_anywhere(struct thread_stack *stack, const struct flow_event *event)
{
    stack_moves_land(stack, event, place_of(stack, event), thread_stack_parent(stack, stack->leaf),
                     false);
}

static void land_in_other_frame(struct thread_stack *stack, const struct flow_event *event)
{
    if (active_functions_count(&stack->open, event->function) > 0)
        land_in_active_function(stack, event);
    else
        land_anywhere(stack, event);
    unwind_target_pointers_note(stack, event->to);
}

void land(struct thread_stack *stack, const struct flow_event *event)
{
    bool open = active_functions_count(&stack->open, event->function) > 0;
    bool jumps =
        event->flags & FLOW_LOADS_STACK || thread_stack_was_open_before(stack, event->function);
    if (stays_in_leaf(stack, event) || (!open && !jumps))
        take_over(stack, event->function, event->to);
    else if (!land_on_pad(stack, event) && !land_in_cleanup(stack, event))
        land_in_other_frame(stack, event);
}

void land_by_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (land_on_pad(stack, event))
        return;
    thread_stack_count_repaired(stack);
    land_in_other_frame(stack, event);
}
