#include "stack/follow.h"

#include "stack/inlined_functions.h"
#include "stack/recorded_values.h"
#include "stack/rules/called_fibers.h"
#include "stack/rules/common_moves.h"
#include "stack/rules/kernel_frames.h"
#include "stack/rules/stack_pointer_switch.h"
#include "stack/rules/stack_switch.h"
#include "stack/stack_moves.h"
#include "stack/stitching.h"

/* Calls, returns and jumps are those of the program itself, in a segment. True if that is all that
 * is to be said of the event. */
static bool enter_program(struct thread_stack *stack, const struct flow_event *event)
{
    if (stack->leaf != FRAME_NONE) {
        kernel_frames_leave_unseen(stack);
        return false;
    }
    if (event->kind == FLOW_CALL)
        return false; /* whose target is the segment's root */
    stack_moves_begin_at(stack, event, false);
    return true;
}

static void ask_rules(struct thread_stack *stack, const struct flow_event *event)
{
    bool branches =
        event->kind == FLOW_CALL || event->kind == FLOW_RETURN || event->kind == FLOW_JUMP;
    if (branches && enter_program(stack, event))
        return;
    if (event->kind != FLOW_JUMP || !(event->flags & FLOW_DIRECT))
        stack_rules_follow(stack, &stack->rules, event);
    else if (!called_fibers_follow_jump(stack, event) &&
             !stack_pointer_switch_to_function(stack, event) &&
             !stack_switch_to_function(stack, event))
        stack_moves_replace(stack, event->function, event->to);
}

/* Frame ids have run out: the thread's stacks end here, visibly, in a gap of kind FLOW_GAP_NONE. */
static void give_up(struct thread_stack *stack)
{
    if (!stack->in_gap)
        stack_moves_begin_gap(stack, &(struct gap){.kind = FLOW_GAP_NONE, .time_lost = true});
    thread_stack_count_ignored(stack);
}

static void follow_event(struct thread_stack *stack, const struct flow_event *event)
{
    stack_moves_advance(stack, event->time);
    if (event->kind == FLOW_INLINED) {
        if (stack->leaf != FRAME_NONE)
            inlined_functions_follow(stack, thread_stack_leaf(stack)->function, event, 1);
        return;
    }
    if (event->kind == FLOW_CALL_VALUE) {
        recorded_values_follow(stack, event);
        return;
    }
    if (frame_tree_full(&stack->tree)) {
        give_up(stack);
        return;
    }
    if (!stack->started)
        stack_rules_begin_events(stack);
    stack_rules_note(stack, stack->rules.before_event, event);
    if (kernel_frames_is_special(event->function)) {
        /* Only the rules make special frames, and rely on what is below them. */
        struct flow_event unknown = *event;
        unknown.function = FUNCTION_UNKNOWN;
        ask_rules(stack, &unknown);
    } else {
        ask_rules(stack, event);
    }
    inlined_functions_settle(stack, event);
    stack_rules_note(stack, stack->rules.after_event, event);
    thread_stack_followed(stack, event->kind);
}

void follow_events(struct thread_stack *stack, const struct flow_event *events, size_t count)
{
    size_t done = 0;
    while ((done += common_moves_follow(stack, events + done, count - done)) < count)
        follow_event(stack, &events[done++]);
}

void follow_end(struct thread_stack *stack, const struct follow_ending *ending)
{
    bool lasts = stack->leaf != FRAME_NONE || stack->in_gap;
    if (lasts)
        stack_moves_advance(stack, ending->time);
    if (ending->death && stack->started)
        stack_moves_die(stack, ending->death);
    frame_id leaf = stack->leaf;
    stack_moves_end(stack, HISTORY_END_TRACE);
    if (leaf != FRAME_NONE)
        stack_rules_events_ended(stack, leaf);
    stitching_join_segments(stack);
    stitching_add_spans(stack);
}
