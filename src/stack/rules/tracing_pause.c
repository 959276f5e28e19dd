/* The rules of tracing that stops and starts: filters, the beginning of a recording, exec.
 *
 * If tracing stops for no reason in the program itself, a frame "[untraced]" is on the stack until
 * it continues: in the same function, or in one further out to which the program must have returned
 * meanwhile. Otherwise nothing connects the stack before with the one after: the segment ends, and
 * a new one begins.
 *
 * After exec a thread runs another program: its whole stack ends there (at the time at which the
 * new program begins, so that the exec system call keeps its length).
 */
#include "stack/rules/kernel_entry.h"
#include "stack/rules/kernel_frames.h"
#include "stack/rules/recorded_callers.h"
#include "stack/stack_moves.h"

struct tracing_pause {
    struct ticks stopped_at;  /* at the last FLOW_STOP */
    bool stopped_inside;      /* in the program, and in a segment */
    uint32_t program_changes; /* up to which the stack is up to date */
};

static bool follow_stop(struct thread_stack *stack, const struct flow_event *event)
{
    struct tracing_pause *state = stack->rules.tracing_pause;
    state->stopped_at = stack->now;
    state->stopped_inside =
        stack->leaf != FRAME_NONE && !kernel_frames_is_outside(thread_stack_leaf(stack));
    return true;
}

/* Only the next event shows whether FLOW_STOP was a pause or the end of the recording. */
static bool is_paused(const struct thread_stack *stack)
{
    return stack->previous == FLOW_STOP && stack->rules.tracing_pause->stopped_inside;
}

/* Adds "[untraced]" from the beginning of the pause on. */
static void show_pause(struct thread_stack *stack)
{
    struct activation untraced = {.function = FUNCTION_UNTRACED, .kind = FRAME_UNTRACED};
    stack_moves_enter_earlier(stack, stack->rules.tracing_pause->stopped_at, &untraced, 0);
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
    begin(stack, event, is_paused(stack) && thread_stack_is_start(stack, event->to));
}

static void begin_events(struct thread_stack *stack)
{
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

static bool follow_resume(struct thread_stack *stack, const struct flow_event *event)
{
    bool first = !stack->started;
    bool other_program = program_changed(stack);
    if (other_program) {
        stack_moves_end(stack, HISTORY_END_EXEC);
        stack_rules_program_changed(stack);
    }
    if (stack->leaf == FRAME_NONE) {
        bool seen = (first || other_program) && thread_stack_is_start(stack, event->to);
        begin(stack, event, seen);
        return true;
    }
    if (is_paused(stack)) {
        show_pause(stack);
        stack_moves_return(stack, thread_stack_parent(stack, stack->leaf));
        continue_in(stack, event);
    } else if (kernel_frames_is_outside(thread_stack_leaf(stack))) {
        kernel_entry_leave(stack, event);
    } else if (thread_stack_leaf(stack)->function != event->function) {
        thread_stack_count_repaired(stack);
        continue_in(stack, event);
    }
    return true;
}

/* The control flow is unknown from here on: the segment ends. */
static bool follow_gap(struct thread_stack *stack, const struct flow_event *event)
{
    if (is_paused(stack))
        show_pause(stack);
    struct gap gap = {
        .address = event->from,
        .kind = event->gap,
        .error = event->error,
        .time_lost = event->flags & FLOW_TIME_LOST,
    };
    stack_moves_begin_gap(stack, &gap);
    return true;
}

const struct stack_rule tracing_pause_rule = {
    .state_size = sizeof(struct tracing_pause),
    .begin_events = begin_events,
    .follow = {[FLOW_STOP] = follow_stop, [FLOW_RESUME] = follow_resume, [FLOW_GAP] = follow_gap},
};
