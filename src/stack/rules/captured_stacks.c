#include "stack/rules/captured_stacks.h"

#include "stack/rules/fitting_stacks.h"
#include "stack/rules/stack_switch.h"
#include "stack/rules/unwind_targets.h"
#include "stack/stack_moves.h"

enum {
    PLACES_LIMIT = 64,
    STACKS_LIMIT = 256, /* of a place; if there are more, they stay unknown */
};

static struct captured_stacks *state_of(const struct thread_stack *stack)
{
    return stack->rules.captured_stacks;
}

/* longjmp, to where no activation of the function is known to be. */
static bool may_be_captured(const struct thread_stack *stack, const struct flow_event *event)
{
    return event->kind == FLOW_JUMP && event->flags & FLOW_LOADS_STACK &&
           active_functions_count(&stack->open, event->function) == 0 &&
           !stack_switch_misses_stacks(stack);
}

/* NULL: there are too many. */
static struct captured_place *find_place(struct thread_stack *stack, uint64_t address)
{
    struct array *places = &state_of(stack)->places;
    for (size_t i = 0; i < places->count; i++) {
        struct captured_place *place = array_at(places, i);
        if (place->address == address)
            return place;
    }
    if (places->count == PLACES_LIMIT)
        return NULL;
    struct captured_place *place = array_add(places);
    *place = (struct captured_place){.address = address, .calls = array_of(sizeof(frame_id))};
    return place;
}

static frame_id caller_of(const struct thread_stack *stack, const struct array *calls, size_t index)
{
    return thread_stack_parent(stack, *(const frame_id *)array_at(calls, index));
}

static bool has_alike(const struct thread_stack *stack, const struct array *calls, frame_id caller)
{
    size_t i = 0;
    while (i < calls->count &&
           !stack_comparison_are_alike(stack, caller_of(stack, calls, i), caller))
        i++;
    return i < calls->count;
}

static void look_at_new_calls(struct thread_stack *stack, struct captured_place *place,
                              const struct array *calls, function_id function)
{
    for (; place->looked_at < calls->count && place->calls.count <= STACKS_LIMIT;
         place->looked_at++) {
        frame_id caller = caller_of(stack, calls, place->looked_at);
        if (thread_stack_frame(stack, caller)->function == function &&
            !has_alike(stack, &place->calls, caller))
            array_add_all(&place->calls, array_at(calls, place->looked_at), 1);
    }
}

static bool has_calls_of(const struct thread_stack *stack, const struct array *calls,
                         function_id function)
{
    size_t i = 0;
    while (i < calls->count &&
           thread_stack_frame(stack, caller_of(stack, calls, i))->function != function)
        i++;
    return i < calls->count;
}

/* One of the stacks of `place` runs. */
static void go_on_in(struct thread_stack *stack, const struct captured_place *place,
                     const struct flow_event *event)
{
    size_t count = place->calls.count;
    if (count == 1) {
        stack_moves_resume(stack, caller_of(stack, &place->calls, 0), event->function, event->to);
        return;
    }
    if (count <= STACKS_LIMIT)
        array_add_all(&state_of(stack)->candidates, place->calls.elements, count);
    stack_moves_begin_in_one_of(stack, event);
}

bool captured_stacks_land(struct thread_stack *stack, const struct flow_event *event)
{
    if (!may_be_captured(stack, event))
        return false;
    const struct array *calls = unwind_targets_calls(stack, event->to);
    struct captured_place *place = calls ? find_place(stack, event->to) : NULL;
    if (!place || !has_calls_of(stack, calls, event->function))
        return false;
    stack_switch_leave(stack); /* now it may be known which one that was */
    look_at_new_calls(stack, place, calls, event->function);
    go_on_in(stack, place, event);
    return true;
}

/* The returns have decided. */
static void decide(struct thread_stack *stack, struct segment *segment)
{
    struct array *candidates = &state_of(stack)->candidates;
    struct fitting_stacks fitting = fitting_stacks_begin();
    for (size_t i = 0; i < candidates->count && fitting_stacks_is_open(&fitting); i++)
        fitting_stacks_consider(&fitting, stack, segment,
                                *(const frame_id *)array_at(candidates, i), false);
    if (fitting.leaf != FRAME_NONE && fitting.is_certain)
        fitting_stacks_join(&fitting, segment);
    else if (fitting.leaf != FRAME_NONE)
        fitting_stacks_gain_common(&fitting);
    fitting_stacks_end(&fitting);
    candidates->count = 0;
}

static void forget_places(struct thread_stack *stack)
{
    struct array *places = &state_of(stack)->places;
    for (size_t i = 0; i < places->count; i++)
        array_free(&((struct captured_place *)array_at(places, i))->calls);
    places->count = 0;
}

static void program_changed(struct thread_stack *stack)
{
    forget_places(stack);
    state_of(stack)->candidates.count = 0;
}

static void begin(struct thread_stack *stack)
{
    state_of(stack)->places = array_of(sizeof(struct captured_place));
    state_of(stack)->candidates = array_of(sizeof(frame_id));
}

static void end(struct thread_stack *stack)
{
    forget_places(stack);
    array_free(&state_of(stack)->places);
    array_free(&state_of(stack)->candidates);
}

const struct stack_rule captured_stacks_rule = {
    .state_size = sizeof(struct captured_stacks),
    .begin = begin,
    .end = end,
    .segment_ended = decide,
    .program_changed = program_changed,
};
