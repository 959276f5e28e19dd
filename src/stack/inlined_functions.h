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

/* Follows a FLOW_INLINED. An event that is not about the leaf is ignored. */
static inline void inlined_functions_follow(struct thread_stack *stack,
                                            const struct flow_event *event)
{
    if (stack->leaf != FRAME_NONE && thread_stack_leaf(stack)->function == event->function &&
        inlined_frames_open(stack, stack->leaf) != event->next)
        inlined_functions_move(stack, (inlined_id)event->next, false);
}

/* The rules have followed `event`: finds out what is inlined where control is now, if the kind of
 * the event does not say. */
void inlined_functions_settle(struct thread_stack *stack, const struct flow_event *event);

#endif
