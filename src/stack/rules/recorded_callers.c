#include "stack/rules/recorded_callers.h"

#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"
#include "stack/stack_moves.h"

/* One packet can stand for 65,536 callers. Damaged data must not fill the memory with them, so the
 * number of other steps limits how many are learned. Between deep recursions that are lost and
 * found again there are many steps. */
static bool are_too_many(const struct thread_stack *stack)
{
    enum { AT_FIRST = 1 << 16, PER_STEP = 16 };
    return stack->rules.recorded_callers->learned >= AT_FIRST + PER_STEP * stack->history.count;
}

bool recorded_callers_named(const struct thread_stack *stack, frame_id frame)
{
    const struct array *named = &stack->rules.recorded_callers->named;
    size_t index = array_find_key(named, frame);
    return index < named->count && *(const frame_id *)array_at(named, index) == frame;
}

static void note_named(struct recorded_callers *state, frame_id frame)
{
    *(frame_id *)array_insert(&state->named, array_find_key(&state->named, frame)) = frame;
}

/* They are named at once. */
static void drop_old(struct thread_stack *stack)
{
    if (stack->previous != FLOW_RESUME && stack->previous != FLOW_CALLER)
        stack->rules.recorded_callers->uncalled = FRAME_NONE;
}

/* tracing_pause.c follows it. */
static bool note_resume(struct thread_stack *stack, const struct flow_event *event)
{
    drop_old(stack);
    return false;
}

/* The frame's caller is known: whether it is the one that the event names. */
static bool agrees(const struct thread_stack *stack, frame_id frame, const struct flow_event *event)
{
    const struct frame *called = thread_stack_frame(stack, frame);
    bool interrupted = event->flags & FLOW_INTERRUPTED;
    return called->return_address == event->to && (called->kind == FRAME_SIGNAL) == interrupted;
}

static bool follow_caller(struct thread_stack *stack, const struct flow_event *event)
{
    struct recorded_callers *state = stack->rules.recorded_callers;
    stack_pointer_note_recorded(stack);
    drop_old(stack);
    if (event->flags & FLOW_PLACED)
        state->uncalled = stack->leaf;
    if (state->uncalled != FRAME_NONE && are_too_many(stack))
        state->uncalled = FRAME_NONE;
    if (state->uncalled == FRAME_NONE)
        return true;
    if (!thread_stack_is_root(stack, state->uncalled)) {
        state->uncalled = agrees(stack, state->uncalled, event)
                              ? thread_stack_parent(stack, state->uncalled)
                              : FRAME_NONE;
        return true;
    }
    state->learned++;
    if (event->to == 0) {
        stack_moves_learn_outermost(stack, state->uncalled);
        return true;
    }
    state->uncalled = stack_moves_learn_caller(stack, state->uncalled, event->function, event->to,
                                               event->flags & FLOW_INTERRUPTED);
    note_named(state, state->uncalled);
    stack_switch_extend(stack);
    return true;
}

static void begin(struct thread_stack *stack)
{
    stack->rules.recorded_callers->named = array_of(sizeof(frame_id));
}

static void end(struct thread_stack *stack)
{
    array_free(&stack->rules.recorded_callers->named);
}

const struct stack_rule recorded_callers_rule = {
    .state_size = sizeof(struct recorded_callers),
    .begin = begin,
    .end = end,
    .follow = {[FLOW_RESUME] = note_resume, [FLOW_CALLER] = follow_caller},
};
