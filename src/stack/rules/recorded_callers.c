#include "stack/rules/recorded_callers.h"

#include "stack/rules/stack_pointer.h"
#include "stack/stack_moves.h"

/* One packet can stand for 65,536 callers. Damaged data must not fill the memory with them, so the
 * number of other steps limits how many are learned. Between deep recursions that are lost and
 * found again there are many steps. */
static bool are_too_many(const struct thread_stack *stack)
{
    enum { AT_FIRST = 1 << 16, PER_STEP = 16 };
    return stack->rules.recorded_callers->learned >= AT_FIRST + PER_STEP * stack->history.count;
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
    if (event->to == 0)
        stack_moves_learn_outermost(stack, state->uncalled);
    else
        state->uncalled = stack_moves_learn_caller(stack, state->uncalled, event->function,
                                                   event->to, event->flags & FLOW_INTERRUPTED);
    return true;
}

const struct stack_rule recorded_callers_rule = {
    .state_size = sizeof(struct recorded_callers),
    .follow = {[FLOW_RESUME] = note_resume, [FLOW_CALLER] = follow_caller},
};
