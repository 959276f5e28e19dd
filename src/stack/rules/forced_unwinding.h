/* The rule of forced unwinding: pthread_exit and pthread_cancel.
 *
 * To end a thread, libc unwinds its whole stack, from the innermost frame outwards. C++ and Rust
 * frames continue at their landing pads, as after an exception (unwinding.h). C functions with
 * pthread_cleanup_push have called setjmp there and continue by longjmp, one after the other: each
 * runs its handler and then lets the unwinder continue (__pthread_unwind_next). So the program
 * never chooses the unwind target: it is the innermost activation that has called setjmp from there
 * and in which forced unwinding has not yet continued at that address.
 *
 * A thread is being ended if libc's function __pthread_unwind is among the innermost frames. The
 * unwinder's own, _Unwind_ForcedUnwind, is not enough: a program may also call it, and continue
 * anywhere. Source: glibc nptl/unwind.c, nptl/cleanup.c.
 *
 * Called by unwinding.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_FORCED_UNWINDING_H
#define MAGIC_TRACE_STACK_RULES_FORCED_UNWINDING_H

#include "stack/thread_stack.h"

/* Control is at event->to in a function that is active. True if forced unwinding has brought it
 * there, and the activation is known: the stack is then cut to it. */
bool forced_unwinding_land(struct thread_stack *stack, const struct flow_event *event);

#endif
