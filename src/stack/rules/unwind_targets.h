/* Which activations have made a call that returns to a given address, at any time.
 *
 * setjmp returns once by a return and again by longjmp, to the same address. If several activations
 * of its function are active, only those that have called it can be the unwind target. Used only if
 * nothing else decides. The answer is in the frame tree, where every call has left a frame; results
 * are kept, and only frames added since are examined.
 */
#ifndef MAGIC_TRACE_STACK_RULES_UNWIND_TARGETS_H
#define MAGIC_TRACE_STACK_RULES_UNWIND_TARGETS_H

#include "stack/thread_stack.h"

struct unwind_target {
    uint64_t return_address;
    uint32_t looked_at;   /* frames with smaller ids have been examined */
    struct array calls;   /* frame_id, of those that return there */
    struct array callers; /* frame_id, in their order */
};

struct unwind_targets {
    struct array sites; /* struct unwind_target */
    uint64_t looks;     /* frames that were examined for sites that were dropped */
};

/* True if `frame` has made a call that returns to `return_address`, or may have: others have, and
 * this one was active before it was first seen (only then its own return address was unknown). Also
 * false if there are so many addresses that a search would take too long.
 */
bool unwind_targets_may_have_called(struct thread_stack *stack, frame_id frame,
                                    uint64_t return_address);

/* The frames (frame_id, at least one for each caller) of all calls that return to `return_address`, borrowed until the next
 * question; NULL if a search would take too long. */
const struct array *unwind_targets_calls(struct thread_stack *stack, uint64_t return_address);

#endif
