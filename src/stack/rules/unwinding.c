#include "stack/rules/unwinding.h"

#include "stack/rules/captured_stacks.h"
#include "stack/rules/context_rewrites.h"
#include "stack/rules/forced_unwinding.h"
#include "stack/rules/landing_pads.h"
#include "stack/rules/setjmp_calls.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/tail_calls.h"
#include "stack/rules/unwind_target_pointers.h"
#include "stack/rules/unwind_targets.h"
#include "stack/stack_moves.h"

/* Where control has continued. */
static struct unwind_place place_of(const struct thread_stack *stack,
                                    const struct flow_event *event)
{
    return (struct unwind_place){event->to, stack_pointer_move(stack).to};
}

/* The activations of a function in which control may continue. */
struct activations {
    frame_id innermost;     /* FRAME_NONE: none */
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
        if (is_activation && unwind_target_pointers_in_range(&range, i)) {
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
        context_rewrites_unwind(stack, activations.innermost);
        return;
    }
    thread_stack_count_unwound(stack);
    frame_id fallback = activations.innermost != FRAME_NONE
                            ? thread_stack_parent(stack, activations.innermost)
                            : thread_stack_placeholder(stack);
    stack_moves_land(stack, event, place_of(stack, event), fallback, activations.called_from_there);
}

/* Control continues in a function that is not active, as far as the stack is known. A recorded stack pointer says that it
 * is the leaf's place; without one it can be anywhere, also on another stack. So it can after a return where stacks may be
 * missing: code may change stacks by an instruction that is taken for one of a function's own frame (leave, lea). */
static void land_anywhere(struct thread_stack *stack, const struct flow_event *event)
{
    bool stays = event->kind == FLOW_JUMP || !stack_switch_misses_stacks(stack);
    if (stack_pointer_is_recorded(stack) && stays)
        stack_moves_land(stack, event, place_of(stack, event),
                         thread_stack_parent(stack, stack->leaf), false);
    else if (stack_switch_may_be_further_out(stack, event->function))
        stack_moves_land(stack, event, place_of(stack, event), thread_stack_placeholder(stack),
                         false);
    else
        stack_switch_to_new(stack, event, 0);
}

/* Code has changed to another stack, and no call has ended where that continues: it begins, with code that only seems to be in a
 * function which is active, because its own has no name. */
static bool begins_a_stack(const struct thread_stack *stack, const struct flow_event *event)
{
    return stack_switch_has_exchanged(stack, event) &&
           !stack->code.call_may_end_at(stack->code.context, stack->now, event->to);
}

static void land_in_other_frame(struct thread_stack *stack, const struct flow_event *event)
{
    if (begins_a_stack(stack, event))
        stack_switch_to_new(stack, event, 0);
    else if (captured_stacks_land(stack, event))
        return;
    else if (active_functions_count(&stack->open, event->function) > 0)
        land_in_active_function(stack, event);
    else
        land_anywhere(stack, event);
    unwind_target_pointers_note(stack, event->to);
}

void unwinding_land(struct thread_stack *stack, const struct flow_event *event)
{
    bool open = active_functions_count(&stack->open, event->function) > 0;
    bool jumps =
        event->flags & FLOW_LOADS_STACK || thread_stack_was_open_before(stack, event->function);
    if (tail_calls_stays_in_leaf(stack, event) || (!open && !jumps))
        stack_moves_replace(stack, event->function, event->to);
    else if (!landing_pads_land(stack, event) && !forced_unwinding_land(stack, event))
        land_in_other_frame(stack, event);
}

/* The last return of an unwinder: it fits nothing on the stack. */
static bool follow_return(struct thread_stack *stack, const struct flow_event *event)
{
    if (landing_pads_land(stack, event))
        return true;
    thread_stack_count_repaired(stack);
    land_in_other_frame(stack, event);
    return true;
}

static bool follow_jump(struct thread_stack *stack, const struct flow_event *event)
{
    unwinding_land(stack, event);
    return true;
}

const struct stack_rule unwinding_rule = {
    .follow = {[FLOW_RETURN] = follow_return, [FLOW_JUMP] = follow_jump},
};
