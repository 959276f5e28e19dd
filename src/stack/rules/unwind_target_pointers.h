/* Which stack pointers control had when it continued in a frame by longjmp.
 *
 * For recordings with the stack pointer (stack_pointer.h). While a frame is active, control
 * continues in it at one address with the same pointer each time (at others it may differ: alloca);
 * frames further out have a higher one. So the unwind target is the frame in which control
 * continued with the same pointer before, or is further out than those with a lower one. Frames
 * outside a signal handler may be on another stack, where a lower pointer says nothing.
 *
 * A frame of the tree stands for all calls of one function from the same stack, and these have the
 * same pointer unless frames of variable size (alloca) are further out: the newest counts.
 *
 * Called by unwinding.c and stack_comparison.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_UNWIND_TARGET_POINTERS_H
#define MAGIC_TRACE_STACK_RULES_UNWIND_TARGET_POINTERS_H

#include "stack/thread_stack.h"

struct unwind_target_pointer {
    frame_id frame;
    struct unwind_place place;
};

struct unwind_target_pointers {
    struct array reported; /* struct unwind_target_pointer, by frame */
};

/* Control has continued in the leaf, at `address`. Does nothing if no pointer was recorded. */
void unwind_target_pointers_note(struct thread_stack *stack, uint64_t address);

/* The frames that can be the unwind target: numbered from a leaf outwards, from 0 on. */
struct unwind_range {
    size_t first, end; /* end exclusive; SIZE_MAX: however far out */
    size_t except;     /* except this one; SIZE_MAX: no exception. See setjmp_calls.h */
};

/* The range for unwinding that left the stack of `leaf`. All frames if no pointer was recorded. */
struct unwind_range unwind_target_pointers_range(const struct thread_stack *stack, frame_id leaf,
                                                 struct unwind_place landed);

static inline bool unwind_target_pointers_in_range(const struct unwind_range *range, size_t index)
{
    return index >= range->first && index < range->end && index != range->except;
}

#endif
