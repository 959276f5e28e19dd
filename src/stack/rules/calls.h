/* The rules of calls, returns and jumps between functions of one program.
 *
 * A return is matched by its *address*: the frame it ends is the one whose call pushed that
 * address. Names cannot tell (recursion, same-named statics), and a tail call changes a frame's
 * name but not where it returns to.
 */
#ifndef MAGIC_TRACE_STACK_RULES_CALLS_H
#define MAGIC_TRACE_STACK_RULES_CALLS_H

#include "stack/thread_stack.h"

/* A new frame above the leaf. With no segment, one begins here: its root is the called function,
 * whose caller will be discovered by its return. */
void rule_call(struct thread_stack *stack, const struct flow_event *event);

/* In this order:
 *   to the handler of the newest trap       an OCaml exception (ocaml_traps.h)
 *   to the leaf's return address            the leaf ends
 *   of the root                             its caller is discovered
 *   to the return address of another frame  that frame and those above it end (a long return),
 *                                           unless an exception lands there (unwinding.h)
 *   of a local call, elsewhere              a retpoline: the return is its jump
 *   of a signal handler                     to the first instruction of what it interrupted: it was
 *                                           a call made by a handler; else to the restorer (signals.h)
 *   to where a suspended stack goes on      that one does (stack_switch.h)
 *   to the start of a function              a new stack, or "push; ret" (stack_switch.h)
 *   elsewhere                               an unwinder's last return (unwinding.h)
 */
void rule_return(struct thread_stack *stack, const struct flow_event *event);

/* Into another function: a tail call, a PLT stub, the way back from a cold part, a return made by
 * `pop; jmp`, or (unwinding.h) longjmp or an exception. */
void rule_jump(struct thread_stack *stack, const struct flow_event *event);

#endif
