#include "stack/rules/tracing_pause.h"

#include "stack/rules/kernel_entry.h"

void rule_stop(struct thread_stack *stack, const struct flow_event *event)
{
    /* Only later events show whether this is a pause or the end of the recording:
     * thread_stack.stopped. */
    stack->stopped = stack->leaf != FRAME_NONE && !is_outside_frame(thread_stack_leaf(stack));
    stack->stopped_at = stack->now;
}

/* Adds "[untraced]" from the beginning of the pause on. */
static void show_pause(struct thread_stack *stack)
{
    struct activation untraced = {.function = FUNCTION_UNTRACED, .kind = FRAME_UNTRACED};
    struct ticks now = stack->now;
    stack->now = stack->stopped_at;
    thread_stack_enter(stack, &untraced, 0);
    stack->now = now;
    stack->stopped = false;
}

/* The next events may name the callers. */
static void begin(struct thread_stack *stack, const struct flow_event *event, bool seen)
{
    thread_stack_begin_at(stack, event, seen);
    stack->uncalled = stack->leaf;
}

/* Tracing continues in `event->function`; the leaf is the frame in which it stopped. */
static void continue_in(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id frame = thread_stack_find(stack, event->function);
    if (frame != FRAME_NONE) {
        thread_stack_return(stack, frame);
        return;
    }
    thread_stack_end(stack, HISTORY_END_GAP);
    begin(stack, event, false);
}

static bool program_changed(struct thread_stack *stack)
{
    uint32_t changes = stack->code.program_changes(stack->code.context, stack->now);
    bool changed = changes != stack->program_changes;
    stack->program_changes = changes;
    return changed;
}

void rule_resume(struct thread_stack *stack, const struct flow_event *event)
{
    bool first = !stack->started;
    bool other_program = program_changed(stack);
    if (other_program) {
        thread_stack_end(stack, HISTORY_END_EXEC);
        thread_stack_change_program(stack);
    }
    if (stack->leaf == FRAME_NONE) {
        bool seen = (first || other_program) && thread_stack_is_start(stack, event->to);
        stack->stopped = false;
        begin(stack, event, seen);
        return;
    }
    if (stack->stopped) {
        show_pause(stack);
        thread_stack_return(stack, thread_stack_parent(stack, stack->leaf));
        continue_in(stack, event);
    } else if (is_outside_frame(thread_stack_leaf(stack))) {
        leave_kernel(stack, event);
    } else if (thread_stack_leaf(stack)->function != event->function) {
        stack->statistics.repaired++;
        continue_in(stack, event);
    }
}

void rule_gap(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->stopped)
        show_pause(stack);
    struct gap gap = {
        .address = event->from,
        .kind = event->gap,
        .error = event->error,
        .time_lost = event->flags & FLOW_TIME_LOST,
    };
    thread_stack_begin_gap(stack, &gap);
}

/* One packet can stand for 65,536 callers. Damaged data must not fill the memory with them, so the
 * number of other steps limits how many are learned. Between deep recursions that are lost and
 * found again there are many steps. */
static bool are_too_many(const struct thread_stack *stack)
{
    enum { AT_FIRST = 1 << 16, PER_STEP = 16 };
    return stack->callers_reported >= AT_FIRST + PER_STEP * stack->history.count;
}

void rule_caller(struct thread_stack *stack, const struct flow_event *event)
{
    stack->stack_pointer_is_recorded = true;
    if (stack->uncalled != FRAME_NONE && are_too_many(stack))
        stack->uncalled = FRAME_NONE;
    if (stack->uncalled == FRAME_NONE)
        return;
    stack->callers_reported++;
    if (event->to == 0)
        frame_tree_set_outermost(&stack->tree, thread_stack_parent(stack, stack->uncalled));
    else
        thread_stack_learn_caller(stack, event->function, event->to,
                                  event->flags & FLOW_INTERRUPTED);
}
