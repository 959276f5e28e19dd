/* Which of several suspended stacks has continued, by the returns that followed.
 *
 * Where more than one stack was left in the place in which control continues, the running one begins as a segment without
 * callers. When it is left again, its frames say which of them it can have been: those that agree with it, innermost frame
 * with innermost frame, as far as both are known. If one does, it was that one. If several do that differ, none is chosen;
 * but the callers that all of them have are the running stack's, whichever it was. If they have the same frames, from their
 * beginnings on, it makes no difference, and the first is taken.
 *
 * Called by stack_switch.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_FITTING_STACKS_H
#define MAGIC_TRACE_STACK_RULES_FITTING_STACKS_H

#include "stack/stack_comparison.h"

struct fitting_stacks {
    struct comparison first; /* of the segment with the first one that fits; only if one does */
    frame_id leaf;           /* with which that one was suspended; FRAME_NONE: none fits */
    size_t common;           /* so many of its frames, from the innermost outwards, all have */
    bool is_certain;         /* it was the first one, or it makes no difference */
};

/* None so far. fitting_stacks_end must follow. */
static inline struct fitting_stacks fitting_stacks_begin(void)
{
    return (struct fitting_stacks){.leaf = FRAME_NONE};
}

/* The segment's stack may be the one that was suspended with `leaf`, and continues in that frame's parent. `several`: or one of
 * several that have its known frames. */
void fitting_stacks_consider(struct fitting_stacks *fitting, struct thread_stack *stack,
                             const struct segment *segment, frame_id leaf, bool several);

/* False if no further stack can change the result. */
bool fitting_stacks_is_open(const struct fitting_stacks *fitting);

/* The segment's stack is the first one. Returns the frame that links the two. */
frame_id fitting_stacks_join(const struct fitting_stacks *fitting, struct segment *segment);

/* It is one of those that fit, unknown which: it gains the callers that all of them have. */
void fitting_stacks_gain_common(const struct fitting_stacks *fitting);

void fitting_stacks_end(struct fitting_stacks *fitting);

#endif
