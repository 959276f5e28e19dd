/* The rules of TSX transactions that fail.
 *
 * XBEGIN names the address at which the program continues if the transaction fails; registers and
 * memory, including the stack, are then restored (SDM volume 1, "Restricted Transactional Memory").
 * So the call stack is again what it was: frames entered since are unwound, and frames that have
 * returned since run again, as new spans, because the trace shows what happened. Lock elision does
 * that: the function that takes a lock begins the transaction and returns.
 *
 * If the beginning of a transaction was not seen, its abort is like any unwinding (unwinding.h).
 */
#ifndef MAGIC_TRACE_STACK_RULES_TRANSACTIONS_H
#define MAGIC_TRACE_STACK_RULES_TRANSACTIONS_H

#include "stack/thread_stack.h"

struct transactions {
    frame_id begun_in; /* the leaf when the one that runs began; FRAME_NONE: none runs */
};

static inline bool transactions_run(const struct thread_stack *stack)
{
    return stack->rules.transactions->begun_in != FRAME_NONE;
}

#endif
