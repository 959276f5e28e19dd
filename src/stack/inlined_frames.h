/* Which inlined function runs in each frame.
 *
 * Written by inlined_functions.c as control moves, and by stack_moves.c where callers are
 * discovered: what is inlined where a frame makes a call follows from its return address, as for a
 * debugger. So replay.c, which finds it out in the same way, and the steps of the history agree.
 */
#ifndef MAGIC_TRACE_STACK_INLINED_FRAMES_H
#define MAGIC_TRACE_STACK_INLINED_FRAMES_H

#include "stack/thread_stack.h"

static inline inlined_id inlined_frames_open(const struct thread_stack *stack, frame_id frame)
{
    const inlined_id *open = stack->inlined_open.elements;
    return frame < stack->inlined_open.count ? open[frame] : (inlined_id)INLINED_NONE;
}

/* Makes room for all frames up to this one. */
void inlined_frames_add(struct thread_stack *stack, frame_id frame);

static inline void inlined_frames_set(struct thread_stack *stack, frame_id frame,
                                      inlined_id inlined)
{
    if (frame >= stack->inlined_open.count)
        inlined_frames_add(stack, frame);
    ((inlined_id *)stack->inlined_open.elements)[frame] = inlined;
}

/* `frame` begins, again perhaps. */
static inline void inlined_frames_begin(struct thread_stack *stack, frame_id frame)
{
    if (frame < stack->inlined_open.count)
        inlined_frames_set(stack, frame, INLINED_NONE);
}

/* What is inlined at `address` of the frame's function. False: that function has no inlined code. */
bool inlined_frames_find(const struct thread_stack *stack, frame_id frame, uint64_t address,
                         inlined_id *inlined);

/* `frame` turns out to have made a call that returns to `address`, or to have been interrupted
 * there. */
void inlined_frames_learn(struct thread_stack *stack, frame_id frame, uint64_t address,
                          bool interrupted);

#endif
