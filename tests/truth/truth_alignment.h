/* Brings the events of a recording and the truth log of the same run together.
 *
 * Every event that can change the stack is one step of the truth (truth_walk.h); steps within
 * a function are no events. So each event is searched for from where the one before was.
 *
 * Used by truth_judge and cut_judge, one per thread.
 */
#ifndef MAGIC_TRACE_TESTS_TRUTH_ALIGNMENT_H
#define MAGIC_TRACE_TESTS_TRUTH_ALIGNMENT_H

#include "decode/flow_event.h"
#include "truth_walk.h"

struct truth_alignment {
    struct truth_walk walk;
    bool in_system_call; /* which the present block of the truth ended in */
};

/* What may move the stack; the truth does not record the other events. */
static inline bool truth_alignment_concerns(const struct flow_event *event)
{
    return event->kind != FLOW_STOP && event->kind != FLOW_GAP && event->kind != FLOW_TRAP_PUSH &&
           event->kind != FLOW_TRAP_POP && event->kind != FLOW_STACK && event->kind != FLOW_COPY &&
           event->kind != FLOW_CALLER && event->kind != FLOW_INLINED &&
           event->kind != FLOW_CALL_VALUE && event->kind != FLOW_COPIED_STACKS;
}

/* Walks the truth to where it is after `event`, which concerns it. False when it never gets there:
 * nothing can be said then from here on. */
bool truth_alignment_follow(struct truth_alignment *alignment, const struct flow_event *event);

/* Walks to the end, for what truth_walk_not_returned_to says. */
void truth_alignment_finish(struct truth_alignment *alignment);

#endif
