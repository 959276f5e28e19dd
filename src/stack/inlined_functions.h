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

/* Records a move in the leaf, step by step, of kind HISTORY_INLINED or HISTORY_INLINED_BEFORE. */
void inlined_functions_record_steps(struct thread_stack *stack, inlined_id from, inlined_id to,
                                    enum history_kind kind);

/* From now on `to` runs in the leaf, where `from`, another one, ran until now. The caller sets that in the frame. */
void inlined_functions_record(struct thread_stack *stack, inlined_id from, inlined_id to);

/* Follows FLOW_INLINED events in the leaf, of `function`, up to the first other event; returns their number. One that is
 * not about the leaf is ignored. */
static inline size_t inlined_functions_follow(struct thread_stack *stack, function_id function,
                                              const struct flow_event *events, size_t count)
{
    const struct inlined_move_cache cache = stack->inlined_moves;
    struct history_end end = history_take_end(&stack->history);
    inlined_id before = inlined_frames_open(stack, stack->leaf), open = before;
    struct ticks now = stack->now;
    size_t done = 0;
    for (; done < count && events[done].kind == FLOW_INLINED; done++) {
        const struct flow_event *event = &events[done];
        inlined_id to = (inlined_id)event->next;
        now = event->time.value > now.value ? event->time : now;
        if (event->function != function || to == open)
            continue;
        uint32_t move = inlined_move_cache_find(&cache, open, to);
        if (move == INLINED_MOVE_NONE || !history_end_add(&end, now, HISTORY_INLINED_MOVE, move))
            break;
        open = to;
    }
    history_put_back(&stack->history, &end);
    stack->now = now;
    if (done < count && events[done].kind == FLOW_INLINED) { /* a move that needs more */
        inlined_functions_record(stack, open, (inlined_id)events[done].next);
        open = (inlined_id)events[done++].next;
    }
    if (open != before)
        inlined_frames_set(stack, stack->leaf, open);
    return done;
}

/* From now on `inlined` runs in the leaf. */
void inlined_functions_move(struct thread_stack *stack, inlined_id inlined);

/* The rules have followed `event`: finds out what is inlined where control is now, if the kind of
 * the event does not say. */
void inlined_functions_settle(struct thread_stack *stack, const struct flow_event *event);

#endif
