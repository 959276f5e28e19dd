/* The rules of entering and leaving the kernel: system calls, interrupts, faults.
 *
 * A kernel entry is a frame on top of the user stack that it interrupts. If the kernel is not
 * traced (the usual case) the frame is a special one, "[syscall]" or "[interrupt]", and the next
 * event is the FLOW_RESUME that ends it; otherwise the frame is the kernel's entry function, with
 * the kernel's own calls above it.
 *
 * The kernel returns to
 *   where it was called or interrupted          the frame ends
 *   the instruction it came from                likewise: an interrupted system call is restarted
 *   the first instruction of a function         a signal handler (signals.h)
 *   elsewhere, from sigreturn                   the end of a signal handler (signals.h)
 *   elsewhere, from any other system call       a signal handler whose beginning is unknown (it has
 *                                               no name), if its function is not active
 *   elsewhere                                   the context was changed: rseq abort
 *                                               (context_rewrites.h), ptrace; as a jump
 *                                               (unwinding.h)
 */
#ifndef MAGIC_TRACE_STACK_RULES_KERNEL_ENTRY_H
#define MAGIC_TRACE_STACK_RULES_KERNEL_ENTRY_H

#include "stack/thread_stack.h"

void rule_syscall(struct thread_stack *stack, const struct flow_event *event);
void rule_interrupt(struct thread_stack *stack, const struct flow_event *event);
void rule_kernel_return(struct thread_stack *stack, const struct flow_event *event);

/* "[syscall]", "[interrupt]" or "[untraced]". */
static inline bool is_special_function(function_id function)
{
    return function == FUNCTION_SYSCALL || function == FUNCTION_INTERRUPT ||
           function == FUNCTION_UNTRACED;
}

/* True if `frame` stands for a time in which nothing of the thread is traced. */
static inline bool is_outside_frame(const struct frame *frame)
{
    return is_special_function(frame->function);
}

/* Control continues at event->to; the leaf is the kernel's frame. */
void leave_kernel(struct thread_stack *stack, const struct flow_event *event);

/* An event of the program came although the leaf is "[syscall]" or another special frame: that has
 * ended without an event. */
void leave_unseen_kernel(struct thread_stack *stack);

/* True if `address` continues what was interrupted with `return_address`. */
bool continues_at(uint64_t return_address, uint64_t address);

#endif
