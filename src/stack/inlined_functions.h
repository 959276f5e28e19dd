/* Which inlined function runs in the leaf of a stack.
 *
 * Inlined functions are no frames: nothing calls them, and nothing returns to them, so the rules
 * do not know them. The history has a step each time that control moves from one to another in
 * the leaf; replay.c shows them.
 *
 * Called by follow.c and common_moves.c.
 */
#ifndef MAGIC_TRACE_STACK_INLINED_FUNCTIONS_H
#define MAGIC_TRACE_STACK_INLINED_FUNCTIONS_H

#include "stack/inlined_frames.h"
#include "stack/stack_moves.h"

/* From now on `inlined` runs in the leaf, by steps of the history: one for what ends, one for each
 * that begins, so that each has a time of its own. */
void inlined_functions_move(struct thread_stack *stack, inlined_id inlined, bool before);

/* Follows a FLOW_INLINED in the leaf, of `function`. An event that is not about the leaf is ignored. */
static inline void inlined_functions_follow(struct thread_stack *stack, function_id function,
                                            const struct flow_event *event)
{
    inlined_id open = inlined_frames_open(stack, stack->leaf), to = (inlined_id)event->next;
    if (function != event->function || open == to)
        return;
    const struct inlined_move *move = inlined_moves_find(&stack->inlined_moves, open, to);
    if (move == NULL) {
        inlined_functions_move(stack, to, false);
        return;
    }
    history_add_all(&stack->history, stack->now, move->steps, move->count);
    inlined_frames_set(stack, stack->leaf, to);
}

/* The rules have followed `event`: finds out what is inlined where control is now, if the kind of
 * the event does not say. */
void inlined_functions_settle(struct thread_stack *stack, const struct flow_event *event);

#endif
