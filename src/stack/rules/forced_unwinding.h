/* The rule of forced unwinding: pthread_exit and pthread_cancel.
 *
 * To end a thread, libc unwinds its whole stack, from the inside out. C++ and Rust frames are
 * landed in at their landing pads, as by an exception (unwinding.h). C functions with
 * pthread_cleanup_push have called setjmp there, and are landed in by longjmp, one after the other:
 * each runs its handler and then has the unwinder go on (__pthread_unwind_next). So a landing is
 * never a choice of the program's: it is in the innermost activation that has called setjmp from
 * there and has not been landed in at that address before.
 *
 * That a thread is being ended is told by the name of libc's function, __pthread_unwind, among the
 * innermost frames. The unwinder's own, _Unwind_ForcedUnwind, would not do: a program may call it
 * too, and land where it wants. Source: glibc nptl/unwind.c, nptl/cleanup.c.
 *
 * Called by unwinding.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_FORCED_UNWINDING_H
#define MAGIC_TRACE_STACK_RULES_FORCED_UNWINDING_H

#include "stack/thread_stack.h"

/* Control is at event->to in a function that is open. True when forced unwinding has brought it
 * there, and the activation is known: the stack is then cut to it. */
bool land_in_cleanup(struct thread_stack *stack, const struct flow_event *event);

#endif
