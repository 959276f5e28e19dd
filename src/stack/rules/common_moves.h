/* Plain moves: the calls, returns and tail calls about which there is nothing to ask.
 *
 * Nearly all events of a program are calls, returns to where the leaf's call pushed, and jumps that
 * stay in the leaf, while no stack pointer was told, no OCaml handler is set, no transaction runs.
 * The rules (calls.h and its like) would ask one question after the other about each of them, and
 * all answers would be no. Here these answers are looked up at once; what remains is the move, the
 * same that the rules would make.
 *
 * Called by follow_events alone.
 */
#ifndef MAGIC_TRACE_STACK_RULES_COMMON_MOVES_H
#define MAGIC_TRACE_STACK_RULES_COMMON_MOVES_H

#include "stack/thread_stack.h"

#include <stddef.h>

/* Follows the events as long as they are plain; gives their number. The rest is for the rules. */
size_t follow_common_moves(struct thread_stack *stack, const struct flow_event *events,
                           size_t count);

#endif
