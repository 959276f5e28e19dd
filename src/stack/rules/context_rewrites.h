/* The rules for code that runs after sigreturn at another address than the interrupted one.
 *
 * A handler can rewrite the context that sigreturn restores, and the kernel rewrites it if it has
 * interrupted a restartable sequence (rseq). So it can be that
 *   a signal has come, or was waiting       its handler runs on top of what was interrupted, and
 *                                           returns to the restorer
 *   a call was injected                     it runs on top of what was interrupted, and returns to
 *                                           there (Go preempts so; runtimes raise exceptions so)
 *   the context was rewritten               it runs in the place of what was interrupted, which has
 *                                           ended, and returns to its caller (recovery of faults,
 *                                           abort handlers of restartable sequences)
 * At its beginning these cannot be distinguished. Until it ends, it is a frame on top of what was
 * interrupted that can be moved (stack_moves_enter_movable). If it has not returned but is left by
 * an exception or longjmp, it is a handler if the kernel has gone there at once. If sigreturn has,
 * the context was rewritten, unless the code has run on top of interrupted code before or is known
 * to be called so (sigpanic of Go's runtime, which never returns).
 *
 * Called by signals.h and by the rules that end such a frame. Each thread has a limited number of
 * such frames and addresses (KEPT_IN_MIND); frames beyond it stay on top.
 */
#ifndef MAGIC_TRACE_STACK_RULES_CONTEXT_REWRITES_H
#define MAGIC_TRACE_STACK_RULES_CONTEXT_REWRITES_H

#include "stack/thread_stack.h"

/* A frame that may have to be moved. */
struct context_rewrite {
    frame_id link;        /* between the frame and the interrupted one; belongs to no other frame */
    uint64_t address;     /* where it began */
    function_id restorer; /* of the handler before it; FUNCTION_UNKNOWN: the kernel called it */
};

struct context_rewrites {
    struct array frames;     /* struct context_rewrite, the newest last */
    struct array run_on_top; /* uint64_t: addresses at which handlers begin */
};

/* The kernel goes back to event->to; the leaf was interrupted at `interrupted`. `restorer`: the
 * function from which sigreturn was called; FUNCTION_UNKNOWN if it was not sigreturn. */
void context_rewrites_begin(struct thread_stack *stack, const struct flow_event *event,
                            uint64_t interrupted, function_id restorer);

/* True if the leaf returns to the caller of what was interrupted, which it has replaced: the leaf
 * has been moved to where it belongs, and the caller must end it. */
bool context_rewrites_returns_for_interrupted(struct thread_stack *stack,
                                              const struct flow_event *event);

/* The leaf, a handler, returns to its restorer: its place is on top of what it interrupted. */
void context_rewrites_settle_handler(struct thread_stack *stack);

/* How many frames of the running stack sigreturn has begun, and may still be anything; and how many of these where
 * code was interrupted at `address`. */
size_t context_rewrites_count(const struct thread_stack *stack);
size_t context_rewrites_count_at(const struct thread_stack *stack, uint64_t address);

/* They turn out to have begun stacks of their own. The stack that `leaf` belongs to must not be running: it ends with the
 * innermost of them, and each stack that it interrupted is a suspended one. */
void context_rewrites_part(struct thread_stack *stack, frame_id leaf);

/* Unwinds everything above `target`, a frame of the stack. */
void context_rewrites_unwind(struct thread_stack *stack, frame_id target);

#endif
