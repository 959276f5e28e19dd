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
 * *switch* (stack_switch.h) one of several stacks continues.
 *
 * Segments after gaps and unwinding are stitched when the whole trace is known: first backwards, so
 * that a segment learns its callers from the one after it, then forwards. A switch must be decided
 * at once, when the segment ends, because the next switch depends on which stacks are suspended.
 *
 * Called by thread_stack. Work per segment is bounded (COMPARISON_LIMIT): a deeper stack that is
 * all one recursion may stay unstitched.
 */
#ifndef MAGIC_TRACE_STACK_STITCHING_H
#define MAGIC_TRACE_STACK_STITCHING_H

#include "stack/thread_stack.h"

/* Called after the last event. */
void stitch_segments(struct thread_stack *stack);

/* A segment of SEGMENT_SWITCH has ended: finds which of its candidates has continued, and removes
 * it from the suspended stacks. Of several that fit, the one that has waited longest. */
void stitch_switch(struct thread_stack *stack, struct segment *segment);

/* True if `function` may be active further out than the current stack is known: the segment began
 * after a gap or unwinding, and it was active before. */
bool was_open_before(const struct thread_stack *stack, function_id function);

/* False if that is so for no function: the segment knows all its callers. */
static inline bool may_be_open_before(const struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    size_t count = stack->segments.count;
    return count > 0 && (segments[count - 1].start == SEGMENT_GAP ||
                         segments[count - 1].start == SEGMENT_UNWIND);
}

/* Adds the spans that are open when segments begin and when suspended stacks continue to the number
 * of spans. Called last. */
void count_spans_of_segments(struct thread_stack *stack);
/* The number of those spans. */
uint64_t spans_open_at_beginnings(const struct thread_stack *stack);

#endif
