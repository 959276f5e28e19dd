/* The rules of TSX transactions that fail.
 *
 * XBEGIN names the address at which the program goes on if the transaction fails; registers and
 * memory, the stack with them, are then as they were (SDM volume 1, "Restricted Transactional
 * Memory"). So the call stack is again what it was: what has been entered since is unwound, and
 * what has returned since runs again, as spans of its own, because what was seen before is shown as
 * it was seen. Lock elision does that: the function that takes a lock begins the transaction and
 * returns.
 *
 * Called by follow.c. When the beginning was not seen, an abort is like any landing (unwinding.h).
 */
#ifndef MAGIC_TRACE_STACK_RULES_TRANSACTIONS_H
#define MAGIC_TRACE_STACK_RULES_TRANSACTIONS_H

#include "stack/thread_stack.h"

/* The event is about to be followed: it may be the first in a transaction, or behind its end. */
void note_transaction(struct thread_stack *stack, const struct flow_event *event);

void rule_abort(struct thread_stack *stack, const struct flow_event *event);

#endif
