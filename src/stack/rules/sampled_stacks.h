/* Call stacks of samples, one after the other: which frames have ended in between, and which have
 * begun.
 *
 * Two stacks are compared from the root on. A frame is still the same activation as long as it is
 * of the same function, called from the same place. The other frames of the older stack have
 * returned when the newer one was taken, and the other frames of the newer one begin there. So with
 * recursion the frames that stay are those of the same depth. What happened between two samples is
 * unknown: a function that was called again from the same place in between is one span, and calls
 * that began and ended in between are not shown.
 *
 * If a stack is cut (only the top of a deep one was recorded), its missing callers are those of the
 * sample before, if its outermost frame was there, too: at the same address on the stack, or, if
 * that is unknown, in the same call.
 *
 * Called by timeline.c; moves a thread_stack, so that the later stages are the same as for packets.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SAMPLED_STACKS_H
#define MAGIC_TRACE_STACK_RULES_SAMPLED_STACKS_H

#include "base/array.h"
#include "decode/stack_sample.h"
#include "stack/thread_stack.h"

struct sampled_stacks {
    struct array frames; /* struct sampled_frame: the active ones, the outermost first */
    struct array ids;    /* frame_id of each */
};

void sampled_stacks_init(struct sampled_stacks *stacks);
void sampled_stacks_free(struct sampled_stacks *stacks);

/* `stack` is the thread's. No rules move it, and it is not stitched. */
void sampled_stacks_follow(struct thread_stack *stack, struct sampled_stacks *stacks,
                           const struct stack_sample *sample);

#endif
