#include "stack/follow.h"

#include "stack/rules/calls.h"
#include "stack/rules/common_moves.h"
#include "stack/rules/kernel_entry.h"
#include "stack/rules/ocaml_traps.h"
#include "stack/rules/recorded_callers.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/tracing_pause.h"
#include "stack/rules/transactions.h"
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
        thread_stack_begin_gap(stack, &(struct gap){.kind = FLOW_GAP_NONE, .time_lost = true});
    stack->statistics.ignored++;
}

static void follow_event(struct thread_stack *stack, const struct flow_event *event)
{
    if (!stack->started || event->time.value > stack->now.value)
        stack->now = event->time;
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
    stack->started = true;
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
    if (lasts && ending->time.value > stack->now.value)
        stack->now = ending->time;
    if (ending->death && stack->started)
        thread_stack_die(stack, ending->death);
    thread_stack_end(stack, HISTORY_END_TRACE);
    stitching_join_segments(stack);
    stitching_add_spans(stack);
}
