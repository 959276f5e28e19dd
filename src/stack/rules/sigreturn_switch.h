/* The rule of signal handlers that return to another stack: they swap the context that sigreturn restores, as schedulers do
 * which preempt their fibers by a timer.
 *
 * Where they do, the recorder reports two stack pointers in the restorer (stack_pointer.h): that of the code which the
 * handler had interrupted, and that of the context which sigreturn restores. The interrupted stack is suspended in its leaf
 * with the one, and the stack that was suspended with the other continues. If none was, a new one begins, or the context
 * was rewritten on the same stack (context_rewrites.h).
 *
 * Recordings of real hardware have no stack pointer. There, what sigreturn has begun is a rewritten context
 * (context_rewrites.h) until a later sigreturn leads to where a handler before it has interrupted code: then both the
 * stack that was interrupted last and the earlier ones may continue. All are suspended stacks from then on, what each was
 * begun by is unknown, and the returns that follow show which one continues, if they fit one alone. Where the recording may
 * miss stacks, one of those may have been interrupted at the same address as the running one. So each of the first handlers
 * that go back to where they have interrupted code begins a segment of its own, which is joined with the interrupted stack at its end
 * if all its returns fit that. If one does not, handlers swap contexts: the callers of all these segments are unknown then, and of
 * what later handlers go back to.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SIGRETURN_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_SIGRETURN_SWITCH_H

#include "stack/rules/stack_pointer.h"

struct sigreturn_switch {
    struct stack_move move; /* of the sigreturn that the kernel executes; all 0: it goes back */
    unsigned
        assumed; /* handlers that may have changed stacks, in a recording without stack pointers */
};

#endif
