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

/* Control continues at event->to; the leaf is the kernel's frame. */
void kernel_entry_leave(struct thread_stack *stack, const struct flow_event *event);

#endif
