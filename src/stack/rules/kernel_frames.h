/* Frames of the kernel, and other special ones: what all rules have to know of them.
 *
 * Where the kernel is not traced, a frame of a special function stands for it: "[syscall]",
 * "[interrupt]". They are made and ended by kernel_entry.c and tracing_pause.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_KERNEL_FRAMES_H
#define MAGIC_TRACE_STACK_RULES_KERNEL_FRAMES_H

#include "stack/thread_stack.h"

/* "[syscall]", "[interrupt]" or "[untraced]". */
static inline bool kernel_frames_is_special(function_id function)
{
    return function == FUNCTION_SYSCALL || function == FUNCTION_INTERRUPT ||
           function == FUNCTION_UNTRACED;
}

/* True if `frame` stands for a time in which the thread is not traced. */
static inline bool kernel_frames_is_outside(const struct frame *frame)
{
    return kernel_frames_is_special(frame->function);
}

/* An event of the program came although the leaf is "[syscall]" or another special frame: that has
 * ended without an event. */
void kernel_frames_leave_unseen(struct thread_stack *stack);

/* True if `address` continues what was interrupted with `return_address`. */
bool kernel_frames_continues_at(uint64_t return_address, uint64_t address);

#endif
