/* The callers that a recording names: callchain snapshots (packet/callchain_snapshot.h).
 *
 * After a RESUME in the middle of the code, FLOW_CALLER events name the caller of the outermost
 * known frame, then that one's caller, and so on.
 *
 * Where code has changed to a stack that was suspended before the recording begins, they name the callers of the leaf.
 * Those of the frames that are known already have to agree; if not, the others are not believed either.
 *
 * Recordings of real hardware have none.
 */
#ifndef MAGIC_TRACE_STACK_RULES_RECORDED_CALLERS_H
#define MAGIC_TRACE_STACK_RULES_RECORDED_CALLERS_H

#include "stack/thread_stack.h"

struct recorded_callers {
    frame_id
        uncalled; /* the frame whose caller the next event may name: the outermost one, or one whose caller is
                        * known and has to agree; FRAME_NONE: none. Only if the event before was FLOW_RESUME or
                        * FLOW_CALLER */
    uint64_t learned;   /* how many */
    struct array named; /* frame_id: the frames that these events named, ascending */
};

/* Whether all that is known of `frame` is that it was named as a caller, or was so at first. */
bool recorded_callers_named(const struct thread_stack *stack, frame_id frame);

/* A segment has begun in its leaf by a RESUME: the next events may name its callers. */
static inline void recorded_callers_begin(struct thread_stack *stack)
{
    stack->rules.recorded_callers->uncalled = stack->leaf;
}

#endif
