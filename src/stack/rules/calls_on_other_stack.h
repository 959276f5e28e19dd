/* Functions that call others on another stack, and return to their own.
 *
 * Go's systemstack and asmcgocall do, and all code that runs a function on a separate stack: load
 * the stack pointer, call, load it again, return. Here these are calls like any other; but the
 * return is recorded as a move from one stack to another (stack_pointer_switch.c), for which no
 * suspended stack fits. mcall and morestack call in the same way and never return: their stack is
 * recognized by where it was left when it continues (goroutines.h).
 */
#ifndef MAGIC_TRACE_STACK_RULES_CALLS_ON_OTHER_STACK_H
#define MAGIC_TRACE_STACK_RULES_CALLS_ON_OTHER_STACK_H

#include "stack/thread_stack.h"

/* A function that loaded the stack pointer and then called another. */
struct call_on_other_stack {
    frame_id caller;
    uint64_t pointer; /* of its own stack */
};

struct calls_on_other_stack {
    struct array calls; /* struct call_on_other_stack, the newest last */
};

/* The stack pointer in `caller` when it made its newest call on another stack; 0 if it has made
 * none, or the pointer was not recorded. */
uint64_t calls_on_other_stack_pointer(const struct thread_stack *stack, frame_id caller);

/* A return or jump of the leaf ends a move. True if the leaf has called on another stack, and now
 * returns to its caller. */
bool calls_on_other_stack_returns(const struct thread_stack *stack, const struct flow_event *event);

#endif
