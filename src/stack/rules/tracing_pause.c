#include "stack/rules/tracing_pause.h"

#include "stack/rules/kernel_entry.h"
#include "stack/rules/recorded_callers.h"
#include "stack/stack_moves.h"

void rule_stop(struct thread_stack *stack, const struct flow_event *event)
{
    /* Only later events show whether this is a pause or the end of the recording. */
    *stack->rules.tracing_pause = (struct tracing_pause){
        .stopped = stack->leaf != FRAME_NONE && !is_outside_frame(thread_stack_leaf(stack)),
        .stopped_at = stack->now,
        .program_changes = stack->rules.tracing_pause->program_changes,
    };
}

/* Adds "[untraced]" from the beginning of the pause on. */
static void show_pause(struct thread_stack *stack)
{
    struct activation untraced = {.function = FUNCTION_UNTRACED, .kind = FRAME_UNTRACED};
    stack_moves_enter_earlier(stack, stack->rules.tracing_pause->stopped_at, &untraced, 0);
    stack->rules.tracing_pause->stopped = false;
}

/* The next events may name the callers. */
static void begin(struct thread_stack *stack, const struct flow_event *event, bool seen)
{
    stack_moves_begin_at(stack, event, seen);
    recorded_callers_begin(stack);
}

/* Tracing continues in `event->function`; the leaf is the frame in which it stopped. */
static void continue_in(struct thread_stack *stack, const struct flow_event *event)
{
    frame_id frame = thread_stack_find(stack, event->function);
    if (frame != FRAME_NONE) {
        stack_moves_return(stack, frame);
        return;
    }
    stack_moves_end(stack, HISTORY_END_GAP);
    begin(stack, event, false);
}

void tracing_pause_before(struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack->started)
        stack->rules.tracing_pause->program_changes =
            stack->code.program_changes(stack->code.context, stack->now);
}

static bool program_changed(struct thread_stack *stack)
{
    uint32_t changes = stack->code.program_changes(stack->code.context, stack->now);
    bool changed = changes != stack->rules.tracing_pause->program_changes;
    stack->rules.tracing_pause->program_changes = changes;
    return changed;
}

void rule_resume(struct thread_stack *stack, const struct flow_event *event)
{
    bool first = !stack->started;
    bool other_program = program_changed(stack);
    if (other_program) {
        stack_moves_end(stack, HISTORY_END_EXEC);
        stack_rules_program_changed(stack);
    }
    if (stack->leaf == FRAME_NONE) {
        bool seen = (first || other_program) && thread_stack_is_start(stack, event->to);
        stack->rules.tracing_pause->stopped = false;
        begin(stack, event, seen);
        return;
    }
    if (stack->rules.tracing_pause->stopped) {
        show_pause(stack);
        stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
        continue_in(stack, event);
    } else if (is_outside_frame(thread_stack_leaf(stack))) {
        leave_kernel(stack, event);
    } else if (thread_stack_leaf(stack)->function != event->function) {
        thread_stack_count_repaired(stack);
        continue_in(stack, event);
    }
}

void rule_gap(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->rules.tracing_pause->stopped)
        show_pause(stack);
    struct gap gap = {
        .address = event->from,
        .kind = event->gap,
        .error = event->error,
        .time_lost = event->flags & FLOW_TIME_LOST,
    };
    stack_moves_begin_gap(stack, &gap);
}

const struct stack_rule tracing_pause_rule = {
    .state_size = sizeof(struct tracing_pause),
};
