/* The rules of what runs when the kernel goes back to code that was not interrupted.
 *
 * A handler can change the context that sigreturn restores, and the kernel changes it where it has
 * interrupted a restartable sequence (rseq). So it can be that
 *   a signal has come, or was waiting       its handler runs on top of what was interrupted, and
 *                                           returns to the restorer
 *   a call was injected                     it runs on top of what was interrupted, and returns to
 *                                           there (Go preempts so; runtimes raise exceptions so)
 *   the program was redirected              it runs in the place of what was interrupted, which is
 *                                           no more, and returns to its caller (recovery of faults,
 *                                           abort handlers of restartable sequences)
 * Nothing tells these apart when it begins. Until it ends, it is a frame on top of what was
 * interrupted that can be moved (thread_stack_enter_movable). When it has not returned but is left
 * by an exception or longjmp, it is a handler if the kernel has gone there at once; if sigreturn
 * has, it was redirected, unless it has run on top of interrupted code before or is known to be
 * called so (sigpanic of Go's runtime, which never returns).
 *
 * Called by signals.h and by the rules of what ends such a frame. For each thread a few frames and
 * addresses are kept in mind (KEPT_IN_MIND); what is forgotten stays on top.
 */
#ifndef MAGIC_TRACE_STACK_RULES_CONTEXT_REWRITES_H
#define MAGIC_TRACE_STACK_RULES_CONTEXT_REWRITES_H

#include "stack/thread_stack.h"

/* A frame that may have to be moved. */
struct context_rewrite {
    frame_id link;        /* between the frame and the interrupted one; no other frame has it */
    uint64_t address;     /* where it began */
    function_id restorer; /* of the handler before it; FUNCTION_UNKNOWN: the kernel called it */
};

/* The kernel goes back to event->to; the leaf was interrupted at `interrupted`. `restorer`: the
 * function from which sigreturn was called; FUNCTION_UNKNOWN when it was none. */
void begin_context_rewrite(struct thread_stack *stack, const struct flow_event *event,
                           uint64_t interrupted, function_id restorer);

/* True when the leaf returns to the caller of what was interrupted, whose place it had taken: it
 * now lies where it belongs, and is to be ended. */
bool returns_for_interrupted(struct thread_stack *stack, const struct flow_event *event);

/* True when the leaf, an injected call, has returned to what was interrupted, and everything is
 * done. */
bool return_to_interrupted(struct thread_stack *stack, const struct flow_event *event);

/* The leaf, a handler, returns to its restorer: it lies on what it interrupted. */
void settle_as_handler(struct thread_stack *stack);

/* Everything above `target`, a frame of the stack, is about to be unwound. */
void settle_before_unwinding(struct thread_stack *stack, frame_id target);

#endif
