/* Stitching: what the stacks of neighbouring segments have in common.
 *
 * A segment after a gap knows only the frames that it has entered, and the callers that it has
 * returned to. Of these the outer ones were active before the gap, too. They are recognized by the
 * return addresses seen since: the segment's first stack, with all the callers discovered for it,
 * is compared with the last stack before the gap. Where the outermost frame of one side meets a
 * frame of the same function on the other, as many frames further in as possible must agree in
 * function and return address. The place where most agree is taken; of equal ones, the innermost.
 * From there outwards both sides are one stack, so each gains the ancestors that only the other
 * knew; the frames that agree are one span across the gap, and all others end in it. If no frame
 * fits, the segments stay apart.
 *
 * After *unwinding* to an unknown frame (unwinding.h) the same is done, but no frame can be new:
 * control continues in a frame that was active, so the whole stack afterwards must agree. After a
 * *switch* in which one of several stacks continues, stack_switch.c does it.
 *
 * Segments after gaps and unwinding are stitched when the whole trace is known: first backwards, so
 * that a segment learns its callers from the one after it, then forwards.
 *
 * Called by follow.c. Work per segment is bounded (COMPARISON_LIMIT): a deeper stack that is
 * all one recursion may stay unstitched.
 */
#ifndef MAGIC_TRACE_STACK_STITCHING_H
#define MAGIC_TRACE_STACK_STITCHING_H

#include "stack/thread_stack.h"

/* Called after the last event. */
void stitching_join_segments(struct thread_stack *stack);

/* The same for segments after unwinding that were not joined, when the stacks before them have learned callers
 * (migrated_stacks.h). True if one is joined now. */
bool stitching_join_unwound(struct thread_stack *stack);

/* Adds the spans that are open when segments begin and when suspended stacks continue to the number
 * of spans. Called last. */
void stitching_add_spans(struct thread_stack *stack);
/* The number of those spans. */
uint64_t stitching_count_open(const struct thread_stack *stack);

#endif
