/* The rule of Go's goroutines: which one continues when the scheduler has chosen.
 *
 * A goroutine leaves its stack by calling mcall or morestack, which load the stack pointer of the
 * thread's own stack (g0) and call the scheduler there. This is shown as the call that it is: the
 * scheduler runs on top of the goroutine that called it, like functions that systemstack and
 * asmcgocall call on g0. gogo ends it. It is called
 *   by newstack    the same goroutine continues after morestack, on a stack that may have moved
 *   by recovery    the same goroutine continues where a deferred call was registered, or is to be
 *                  made; all frames above end, as by longjmp (unwinding.h)
 *   by others      to the first instruction of a function: a new goroutine begins; elsewhere: one
 *                  continues that is suspended there (stack_switch.h), the one that has waited
 *                  longest unless later returns show otherwise. It may also be the one that has
 *                  just been suspended
 * A goroutine that another thread has suspended is unknown here; it begins a stack whose callers
 * are discovered when it returns to them, or when that thread is known, too (migrated_stacks.h).
 * One that was suspended here, then ran in another thread, and comes back with the same stack
 * pointer seems not to have been away: until a return shows otherwise, it has its former callers.
 *
 * go_runtime.h recognizes gogo.
 */
#ifndef MAGIC_TRACE_STACK_RULES_GOROUTINES_H
#define MAGIC_TRACE_STACK_RULES_GOROUTINES_H

#include "stack/thread_stack.h"

/* A goroutine is suspended, or one continues that this thread has not suspended
 * (migrated_stacks.h). */
struct goroutine_moment {
    struct ticks time;
    uint64_t pointer; /* its stack pointer when it continues */
    frame_id frame;   /* in which it continues */
};

struct goroutines {
    struct array departures; /* struct goroutine_moment: of goroutines that this thread suspended */
    struct array arrivals;   /* struct goroutine_moment: of those that another thread suspended */
};

static inline const struct array *goroutines_departures(const struct thread_stack *stack)
{
    return &stack->rules.goroutines->departures;
}

static inline const struct array *goroutines_arrivals(const struct thread_stack *stack)
{
    return &stack->rules.goroutines->arrivals;
}

/* True if the leaf is gogo: its jump chooses a goroutine. gogo continues in a part of itself
 * that has another name. */
static inline bool goroutines_runs_gogo(const struct thread_stack *stack)
{
    if (!stack->open.has_gogo)
        return false;
    function_id origin = frame_tree_origin(&stack->tree, stack->leaf);
    return active_functions_slot(&stack->open, thread_stack_leaf(stack)->function)->is_gogo ||
           (origin != FUNCTION_UNKNOWN && active_functions_slot(&stack->open, origin)->is_gogo);
}

#endif
