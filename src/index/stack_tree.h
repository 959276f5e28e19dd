/* A tree of stacks: nodes are identified by their parent and their group, and found by a hash.
 *
 * Called by flame_graph.c. Memory: 48 to 64 bytes a node.
 */
#ifndef MAGIC_TRACE_INDEX_STACK_TREE_H
#define MAGIC_TRACE_INDEX_STACK_TREE_H

#include "base/array.h"

struct stack_node {
    uint32_t parent; /* a smaller number; of the root its own */
    uint32_t group;
    uint64_t calls, total, self;
};

struct stack_tree {
    struct array nodes; /* of struct stack_node; number 0 is the root */
    uint64_t *slots;    /* owned; a slot: the hash of a node << 32 | 1 + its number; 0: free */
    size_t slot_count;  /* a power of two, at most 2^32 */
};

enum { STACK_ROOT = 0 };

struct stack_tree stack_tree_new(void);
void stack_tree_free(struct stack_tree *tree);

/* The child of `parent` with this group; a new one has all sums 0. Moves the nodes. */
uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t group);

static inline struct stack_node *stack_tree_node(const struct stack_tree *tree, uint32_t number)
{
    return (struct stack_node *)tree->nodes.elements + number;
}

#endif
