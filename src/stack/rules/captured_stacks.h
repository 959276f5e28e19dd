/* The rule of captured stacks: continuations that a program makes of copies of its stack (SCM, old Guile, Ruby's callcc).
 *
 * A function calls setjmp, copies the stack away, and returns. Later, also from code that is called elsewhere, the stack is
 * grown beyond what is copied back, and longjmp goes on where setjmp has returned: in an activation that ended long ago, and
 * whose callers are those that it had then. It may continue any number of times.
 *
 * So where longjmp continues in a function that is not active, the stack is one of those on which a call has returned there
 * (unwind_targets.h). If there are several, and they differ, the returns that follow decide; until then, the callers are
 * unknown, and stay so beyond those that all that fit have in common. So they do in recordings that may not have all stacks.
 *
 * Where that function is active, the ordinary longjmp is assumed (unwinding.h).
 *
 * Called by unwinding.c and stack_pointer_switch.c.
 */
#ifndef MAGIC_TRACE_STACK_RULES_CAPTURED_STACKS_H
#define MAGIC_TRACE_STACK_RULES_CAPTURED_STACKS_H

#include "stack/thread_stack.h"

/* Where calls have returned to, in stacks that may continue there. */
struct captured_place {
    uint64_t address;
    size_t looked_at;   /* calls of unwind_targets_calls */
    struct array calls; /* frame_id: one for each stack; they differ */
};

struct captured_stacks {
    struct array places;     /* struct captured_place */
    struct array candidates; /* frame_id, of calls: the stacks that may be the one that runs */
};

/* Control has come to event->to in another frame. False: no captured stack continues there. */
bool captured_stacks_land(struct thread_stack *stack, const struct flow_event *event);

#endif
