/* Call stacks of samples, one after the other: which frames have ended in between, and which have
 * begun.
 *
 * Two stacks are compared from the root on. A frame is still the same activation as long as it is
 * of the same function, called from the same place; the others of the older stack have returned
 * when the newer one was taken, and the others of the newer one begin there. So with recursion the
 * frames that stay are those of the same depth. What happened between two samples is not known:
 * functions that were called again from the same place in between are one span, and those that came
 * and went are none.
 *
 * Of a stack that is cut (only the top of a deep one was recorded) the missing callers are those of
 * the sample before, if its outermost frame lies there too: at the same address on the stack, or,
 * where that is not known, in the same call.
 *
 * Fed by timeline.c; moves a thread_stack, so that what comes behind is the same as for packets.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SAMPLED_STACKS_H
#define MAGIC_TRACE_STACK_RULES_SAMPLED_STACKS_H

#include "base/array.h"
#include "decode/stack_sample.h"
#include "stack/thread_stack.h"

struct sampled_stacks {
    struct array frames; /* struct sampled_frame: those that are open, the outermost first */
    struct array ids;    /* frame_id of each */
};

void sampled_stacks_init(struct sampled_stacks *stacks);
void sampled_stacks_free(struct sampled_stacks *stacks);

/* `stack` is the thread's, which nobody else moves, and is not stitched. */
void sampled_stacks_follow(struct thread_stack *stack, struct sampled_stacks *stacks,
                           const struct stack_sample *sample);

#endif
