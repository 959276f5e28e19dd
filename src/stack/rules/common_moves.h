/* Plain moves: the calls, returns and tail calls to which no special rule applies.
 *
 * Nearly all events of a program are calls, returns to the address that the leaf's call pushed, and
 * jumps that stay in the leaf, while no stack pointer has been recorded, no OCaml handler is set,
 * and no transaction runs. The rules (stack_rules.h) would check one condition after the other
 * for each of them, all false. Here one check replaces them; then the move is made, the same that
 * the rules would make.
 *
 * Called only by follow_events.
 */
#ifndef MAGIC_TRACE_STACK_RULES_COMMON_MOVES_H
#define MAGIC_TRACE_STACK_RULES_COMMON_MOVES_H

#include "stack/thread_stack.h"

#include <stddef.h>

/* Follows the events as long as they are plain; returns their number. The others are for the rules.
 */
size_t common_moves_follow(struct thread_stack *stack, const struct flow_event *events,
                           size_t count);

#endif
