/* Whether a reconstructed stack is the true one: the same functions, from the leaf to the root.
 *
 * Frames that stand for the kernel or for an unknown caller are not compared. Used by truth_judge
 * and cut_judge, when everything is known about both stacks.
 */
#ifndef MAGIC_TRACE_TESTS_STACK_COMPARISON_H
#define MAGIC_TRACE_TESTS_STACK_COMPARISON_H

#include "judged_pairs.h"
#include "stack/thread_stack.h"
#include "truth_walk.h"

/* Fills `functions` (of function_id) with those of a stack, leaf first. */
void collect_reconstructed(const struct thread_stack *stack, frame_id id, struct array *functions);
void collect_true(const struct true_tree *tree, true_node node, struct array *functions);

/* `truth` are the functions of the pair's node. Of a forked child, those that it never returned to
 * may be missing; of a new stack (swapcontext), the function to which the first one returned in the
 * end may be shown as its caller. */
bool is_right(const struct truth_walk *walk, const struct judged_pair *pair,
              const struct array *reconstructed, struct array *truth);

/* How many of the outermost functions are the same. */
size_t count_same_callers(const struct array *left, const struct array *right);

#endif
