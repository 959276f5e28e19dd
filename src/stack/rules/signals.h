/* The rules of signal handlers.
 *
 * A handler is a frame on top of what it interrupted; its return address is the interrupted
 * instruction. It begins when the kernel, entered by a system call or an interrupt, returns to the
 * first instruction of another function. It ends in two steps: the handler returns into the
 * restorer (libc's __restore_rt, whose address the kernel pushed as return address:
 * arch/x86/kernel/signal_64.c, x64_setup_rt_frame), and the restorer's system call, sigreturn,
 * returns to the interrupted instruction. A handler that is left by siglongjmp is unwound like any
 * function.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SIGNALS_H
#define MAGIC_TRACE_STACK_RULES_SIGNALS_H

#include "stack/thread_stack.h"

/* The kernel calls the handler at event->to; the leaf is the frame that is interrupted, at
 * `interrupted`. */
void signals_enter_handler(struct thread_stack *stack, const struct flow_event *event,
                           uint64_t interrupted);

/* From a system call of the leaf the kernel returns to event->to, which does not continue the leaf.
 * True if that was sigreturn; then the event is complete. */
bool signals_leave_handler(struct thread_stack *stack, const struct flow_event *event);

#endif
