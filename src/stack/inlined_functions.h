/* Which inlined function runs in the leaf of a stack.
 *
 * Inlined functions are no frames: nothing calls them, and nothing returns to them, so the rules
 * know nothing of them. The history has a step each time that control moves from one to another in
 * the leaf; replay.c shows them. What is inlined where a frame makes a call follows from its return
 * address, as for a debugger.
 *
 * Called by follow.c and common_moves.c.
 */
#ifndef MAGIC_TRACE_STACK_INLINED_FUNCTIONS_H
#define MAGIC_TRACE_STACK_INLINED_FUNCTIONS_H

#include "stack/stack_moves.h"

/* Records it, unless the newest step said the same. `kind`: one of the two HISTORY_INLINED. */
static inline void inlined_functions_record(struct thread_stack *stack, enum history_kind kind,
                                            inlined_id inlined)
{
    if (stack->inlined_at == stack->history.count && stack->inlined_last == inlined &&
        stack->inlined_at > 0)
        return;
    stack_moves_record(stack, kind, inlined);
    stack->inlined_at = stack->history.count;
    stack->inlined_last = inlined;
}

/* Follows a FLOW_INLINED. An event that is not about the leaf is ignored. */
static inline void inlined_functions_follow(struct thread_stack *stack,
                                            const struct flow_event *event)
{
    if (stack->leaf == FRAME_NONE || thread_stack_leaf(stack)->function != event->function)
        return;
    inlined_functions_record(stack, HISTORY_INLINED, (inlined_id)event->next);
}

/* The rules have followed `event`: finds out what is inlined where control is now, if the kind of
 * the event does not say. */
void inlined_functions_settle(struct thread_stack *stack, const struct flow_event *event);

#endif
