/* The rule of signal handlers that return to another stack: they swap the context that sigreturn restores, as schedulers do
 * which preempt their fibers by a timer.
 *
 * Where they do, the recorder reports two stack pointers in the restorer (stack_pointer.h): that of the code which the
 * handler had interrupted, and that of the context which sigreturn restores. The interrupted stack is suspended in its leaf
 * with the one, and the stack that was suspended with the other continues. If none was, a new one begins, or the context
 * was rewritten on the same stack (context_rewrites.h).
 *
 * Recordings of real hardware have no stack pointer: there it is always taken for a rewritten context.
 */
#ifndef MAGIC_TRACE_STACK_RULES_SIGRETURN_SWITCH_H
#define MAGIC_TRACE_STACK_RULES_SIGRETURN_SWITCH_H

#include "stack/rules/stack_pointer.h"

struct sigreturn_switch {
    struct stack_move move; /* of the sigreturn that the kernel executes; all 0: it goes back */
};

#endif
