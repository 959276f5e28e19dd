#include "stack/follow.h"

#include "stack/rules/calls.h"
#include "stack/rules/common_moves.h"
#include "stack/rules/kernel_entry.h"
#include "stack/rules/ocaml_traps.h"
#include "stack/rules/recorded_callers.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/tracing_pause.h"
#include "stack/rules/transactions.h"
#include "stack/stack_moves.h"
#include "stack/stitching.h"

static void apply_rule(struct thread_stack *stack, const struct flow_event *event)
{
    switch ((enum flow_kind)event->kind) {
    case FLOW_CALL:
        rule_call(stack, event);
        return;
    case FLOW_RETURN:
        rule_return(stack, event);
        return;
    case FLOW_JUMP:
        rule_jump(stack, event);
        return;
    case FLOW_SYSCALL:
        rule_syscall(stack, event);
        return;
    case FLOW_INTERRUPT:
        rule_interrupt(stack, event);
        return;
    case FLOW_RESUME:
        rule_resume(stack, event);
        return;
    case FLOW_KERNEL_RETURN:
        rule_kernel_return(stack, event);
        return;
    case FLOW_STOP:
        rule_stop(stack, event);
        return;
    case FLOW_GAP:
        rule_gap(stack, event);
        return;
    case FLOW_ABORT:
        rule_abort(stack, event);
        return;
    case FLOW_CALLER:
        rule_caller(stack, event);
        return;
    case FLOW_STACK:
        rule_stack_pointer(stack, event);
        return;
    case FLOW_TRAP_PUSH:
        rule_trap_push(stack, event);
        return;
    case FLOW_TRAP_POP:
        rule_trap_pop(stack, event);
        /* They prepare a later jump and move nothing themselves. */
        return;
    }
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
    if (frame_tree_full(&stack->tree)) {
        give_up(stack);
        return;
    }
    tracing_pause_before(stack, event);
    begin_move_by(stack, event);
    note_transaction(stack, event);
    if (is_special_function(event->function)) {
        /* Only the rules make special frames, and rely on what is below them. */
        struct flow_event unknown = *event;
        unknown.function = FUNCTION_UNKNOWN;
        apply_rule(stack, &unknown);
    } else {
        apply_rule(stack, event);
    }
    end_move_by(stack, event);
    if (event->kind != FLOW_STOP)
        tracing_pause_continued(stack);
    if (event->kind != FLOW_RESUME && event->kind != FLOW_CALLER)
        recorded_callers_end(stack);
    thread_stack_start(stack);
}

void follow_events(struct thread_stack *stack, const struct flow_event *events, size_t count)
{
    size_t done = 0;
    while ((done += follow_common_moves(stack, events + done, count - done)) < count)
        follow_event(stack, &events[done++]);
}

void follow_end(struct thread_stack *stack, const struct follow_ending *ending)
{
    bool lasts = stack->leaf != FRAME_NONE || stack->in_gap;
    if (lasts)
        stack_moves_advance(stack, ending->time);
    if (ending->death && stack->started)
        stack_moves_die(stack, ending->death);
    stack_moves_end(stack, HISTORY_END_TRACE);
    stitching_join_segments(stack);
    stitching_add_spans(stack);
}
