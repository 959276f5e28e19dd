/* The rule of Go's goroutines: who goes on when the scheduler has chosen.
 *
 * A goroutine leaves its stack by calling mcall or morestack, which load the stack pointer of the
 * thread's own stack (g0) and call the scheduler there. We show that as the call it is: the
 * scheduler runs on top of the goroutine that called it, just as what systemstack and asmcgocall
 * call on g0 and return from. gogo ends it. It is called
 *   by newstack    the same goroutine goes on behind morestack, on a stack that may have moved
 *   by recovery    the same goroutine goes on where a deferred call was noted, or is to be made;
 *                  all frames above end, as by longjmp (unwinding.h)
 *   by others      to the first instruction of a function: a new goroutine begins; elsewhere: one
 *                  goes on that is parked there (stack_switch.h), the one that has waited longest
 *                  unless later returns tell otherwise. It may also be the one that has just been
 *                  parked
 * A goroutine that was parked by another thread is not known here; it begins a stack whose callers
 * are discovered when they are returned to, or when that thread is known, too (migrated_stacks.h).
 * One that was parked here, then ran in another thread, and comes back to where its stack pointer
 * was, seems not to have been away: until a return tells otherwise it is shown with its former
 * callers.
 *
 * Called by calls.c; who is gogo is told by go_runtime.h.
 */
#ifndef MAGIC_TRACE_STACK_RULES_GOROUTINES_H
#define MAGIC_TRACE_STACK_RULES_GOROUTINES_H

#include "stack/thread_stack.h"

/* The leaf is about to call. From the moment that a goroutine has left its stack on, other threads
 * may go on in it. */
void note_goroutine_leaves(struct thread_stack *stack);

/* True when the leaf is gogo: its jump is for switch_goroutine. gogo goes on in a part of itself
 * that has another name. */
static inline bool runs_gogo(const struct thread_stack *stack)
{
    if (!stack->open.has_gogo)
        return false;
    function_id origin = frame_tree_origin(&stack->tree, stack->leaf);
    return active_functions_slot(&stack->open, thread_stack_leaf(stack)->function)->is_gogo ||
           (origin != FUNCTION_UNKNOWN && active_functions_slot(&stack->open, origin)->is_gogo);
}

/* An indirect jump. True when it is gogo's, and has been followed. */
bool switch_goroutine(struct thread_stack *stack, const struct flow_event *event);

#endif
