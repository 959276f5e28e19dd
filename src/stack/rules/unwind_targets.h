/* Which activations have made a call that returns to a given address, at any time.
 *
 * setjmp returns once by a return and again by longjmp, to the same address. When several
 * activations of its function are open, only those that have called it can be meant. Asked seldom:
 * at landings that nothing else decides. The answer is read off the frame tree, where every call
 * has left a frame; what was found is kept, and only frames added since are looked at.
 */
#ifndef MAGIC_TRACE_STACK_RULES_UNWIND_TARGETS_H
#define MAGIC_TRACE_STACK_RULES_UNWIND_TARGETS_H

#include "stack/thread_stack.h"

struct unwind_target {
    uint64_t return_address;
    uint32_t looked_at;   /* frames with smaller ids */
    struct array callers; /* frame_id */
};

/* True when `frame` has made a call that returns to `return_address`, or may have: others have, and
 * this one was open before it was first seen (only then nothing was known of its own return
 * address). False, too, when so many addresses are asked for that finding out would take too long.
 */
bool unwind_targets_may_have_called(struct thread_stack *stack, frame_id frame,
                                    uint64_t return_address);

void unwind_targets_free(struct array *sites);

#endif
