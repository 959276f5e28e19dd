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
 *                  continues that is suspended there
 *
 * Which one that is, is decided by the stack pointer, where it is recorded. A goroutine that this thread has suspended may have
 * run in other threads since, and come back with the same stack pointer and other callers. So each one that continues begins a
 * stack whose callers are discovered when it returns to them, or when all threads are known (migrated_stacks.h). Only a panic
 * that is recovered further out than is known since then takes it to be as this thread has left it.
 *
 * Without stack pointers it is the one that this thread has suspended there (stack_switch.h), which has waited longest unless
 * later returns show otherwise; it may also be the one that has just been suspended. One that another thread has suspended
 * is unknown.
 *
 * go_runtime.h recognizes gogo.
 */
#ifndef MAGIC_TRACE_STACK_RULES_GOROUTINES_H
#define MAGIC_TRACE_STACK_RULES_GOROUTINES_H

#include "stack/thread_stack.h"

/* A goroutine is suspended, continues, or begins (goroutine_trips.h). */
enum goroutine_moment_kind { GOROUTINE_LEAVES, GOROUTINE_ARRIVES, GOROUTINE_BEGINS };
struct goroutine_moment {
    struct ticks time;
    uint64_t pointer; /* its stack pointer when it continues */
    frame_id frame;   /* in which it continues */
    uint8_t kind;     /* enum goroutine_moment_kind */
};

struct goroutines {
    struct array moments; /* struct goroutine_moment, as they followed each other in this thread */
    /* The frame in which the running goroutine has continued if no other thread has run it since it
     * was suspended here, and the segment that began then. FRAME_NONE: it was not. */
    frame_id own;
    size_t own_segment;
};

static inline const struct array *goroutines_moments(const struct thread_stack *stack)
{
    return &stack->rules.goroutines->moments;
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
