/* The rules of calls, returns and jumps between functions of one program.
 *
 * A return is matched by its *address*: it ends the frame whose call pushed that address. Names are
 * not enough (recursion, static functions of the same name), and a tail call changes a frame's name
 * but not its return address.
 */
#ifndef MAGIC_TRACE_STACK_RULES_CALLS_H
#define MAGIC_TRACE_STACK_RULES_CALLS_H

#include "stack/thread_stack.h"

/* A new frame above the leaf. If there is no segment, one begins here: its root is the called
 * function, whose caller will be discovered by its return. */
void rule_call(struct thread_stack *stack, const struct flow_event *event);

/* The first that applies:
 *   to the handler of the newest trap       an OCaml exception (ocaml_traps.h)
 *   to the leaf's return address            the leaf ends
 *   of the root                             its caller is discovered
 *   to the return address of another frame  that frame and those above it end (a long return),
 *                                           unless an exception continues there (unwinding.h)
 *   of a local call, elsewhere              a retpoline: the return is its jump
 *   of a signal handler                     to the first instruction of what it interrupted: it
 *                                           was a call made by a handler; else to the restorer
 *                                           (signals.h)
 *   to where a suspended stack continues    that stack continues (stack_switch.h)
 *   to the start of a function              a new stack, or "push; ret" (stack_switch.h)
 *   elsewhere                               the last return of an unwinder (unwinding.h)
 */
void rule_return(struct thread_stack *stack, const struct flow_event *event);

/* A jump into another function: a tail call, a PLT stub, the return from a cold part, a return by
 * `pop; jmp`, or (unwinding.h) longjmp or an exception. */
void rule_jump(struct thread_stack *stack, const struct flow_event *event);

#endif
