/* Stitching: what the stacks of neighbouring segments have in common.
 *
 * A segment behind a gap knows only the frames that it has entered, and the callers that it has
 * returned to. Of these the outer ones were open before the gap, too. They are recognised by the
 * return addresses seen since: the segment's first stack, with all the callers discovered for it,
 * is laid against the last stack before the gap. Where the outermost frame of one side meets a
 * frame of the same function on the other, as many frames further in as possible must agree in
 * function and return address; the place where most do is taken, of equal ones the innermost. From
 * there outwards both sides are one stack, so each gains the ancestors that only the other knew;
 * the frames that agree are one span across the gap, and all others end in it. When no frame fits,
 * the segments stay apart.
 *
 * Behind a *landing* (unwinding.h) the same is done, but no frame can be new: control landed in a
 * frame that was open, so the whole stack found afterwards must agree. Behind a *switch*
 * (stack_switch.h) there are several stacks that it can go on with.
 *
 * Landings and gaps are stitched when the whole trace is known: first backwards, so that a segment
 * learns its callers from the one behind it, then forwards. Switches must be known at once, when
 * the segment ends, because the next switch depends on which stacks are parked.
 *
 * Called by thread_stack. Work per segment is bounded (COMPARISON_LIMIT): a stack deeper than that
 * which is all one recursion may stay unstitched.
 */
#ifndef MAGIC_TRACE_STACK_STITCHING_H
#define MAGIC_TRACE_STACK_STITCHING_H

#include "stack/thread_stack.h"

/* After the last event. */
void stitch_segments(struct thread_stack *stack);

/* A segment of SEGMENT_SWITCH has ended: finds which of its candidates has gone on, which is then
 * parked no more. Of several that fit it is the one that has waited longest. */
void stitch_switch(struct thread_stack *stack, struct segment *segment);

/* True when `function` may be open further out than the current stack is known: the segment began
 * behind a gap or a landing, and it was open before. */
bool was_open_before(const struct thread_stack *stack, function_id function);

/* False when it is for no function at all: all callers are those that the segment knows. */
static inline bool may_be_open_before(const struct thread_stack *stack)
{
    const struct segment *segments = stack->segments.elements;
    size_t count = stack->segments.count;
    return count > 0 && (segments[count - 1].start == SEGMENT_GAP ||
                         segments[count - 1].start == SEGMENT_UNWIND);
}

/* Adds to the number of spans those that are open when segments begin and when parked stacks go on.
 * Last of all. */
void count_spans_of_segments(struct thread_stack *stack);
/* Their number. */
uint64_t spans_open_at_beginnings(const struct thread_stack *stack);

#endif
