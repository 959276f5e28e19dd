/* Where the stack pointer was when control landed in a frame.
 *
 * Of recordings that tell the stack pointer (stack_pointer_switch.h). While a frame is open, control lands
 * in it at one address with the same pointer each time (at others it may differ: alloca); frames
 * further out have a higher one. So a landing is in the frame that was landed in with the same
 * pointer before, or further out than those with a lower one. What lies outside a signal handler
 * may be another stack, where a lower pointer tells nothing.
 *
 * A frame of the tree stands for all calls of one function from the same stack, and these have the
 * same pointer unless frames of variable size (alloca) lie further out: the newest counts.
 *
 * Called by unwinding.c and stitching.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_UNWIND_TARGET_POINTERS_H
#define MAGIC_TRACE_STACK_RULES_UNWIND_TARGET_POINTERS_H

#include "stack/thread_stack.h"

struct unwind_target_pointer {
    frame_id frame;
    struct unwind_place place;
};

/* Control has landed in the leaf, at `address`. Nothing to note if no pointer was told. */
void unwind_target_pointers_note(struct thread_stack *stack, uint64_t address);

/* The frames that a landing can be in: numbered from a leaf outwards, from 0 on. */
struct unwind_range {
    size_t first, end; /* end exclusive; SIZE_MAX: however far out */
    size_t except;     /* but not this one; SIZE_MAX: all. See setjmp_calls.h */
};

/* Of a landing by which the stack of `leaf` was left. All frames when no pointer was told. */
struct unwind_range unwind_target_pointers_range(const struct thread_stack *stack, frame_id leaf,
                                                 struct unwind_place landed);

static inline bool is_in_range(const struct unwind_range *range, size_t index)
{
    return index >= range->first && index < range->end && index != range->except;
}

#endif
