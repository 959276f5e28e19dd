/* Stacks as nodes of a tree of functions (leaf to root), as many as there are distinct ones, so
 * that one number is a whole stack.
 *
 * Used by true_stack, one tree per thread.
 */
#ifndef MAGIC_TRACE_TESTS_TRUE_TREE_H
#define MAGIC_TRACE_TESTS_TRUE_TREE_H

#include "base/array.h"
#include "symbol/symbols.h"

#include <stdint.h>

/* Index of a stack; 0 is the empty one. */
typedef uint32_t true_node;

struct true_tree_node {
    true_node parent;
    function_id function;
    uint32_t depth;     /* functions on it */
    function_id caller; /* of a first function that returned nevertheless: where to */
};

struct true_tree {
    struct array nodes; /* struct true_tree_node */
    true_node *buckets; /* owned; 0: empty */
    size_t bucket_count;
};

void true_tree_init(struct true_tree *tree);
void true_tree_free(struct true_tree *tree);

/* The stack `parent` with `function` on top of it. */
true_node true_tree_child(struct true_tree *tree, true_node parent, function_id function);

static inline const struct true_tree_node *true_tree_at(const struct true_tree *tree,
                                                        true_node node)
{
    return array_at(&tree->nodes, node);
}

#endif
