/* A tree of stacks: nodes are identified by their parent and their group, and found by a hash.
 *
 * Called by flame_graph.c and context_tree.c, whose nodes are structs of their own. Memory: 16 to 32
 * bytes a node, besides the nodes.
 */
#ifndef MAGIC_TRACE_INDEX_STACK_TREE_H
#define MAGIC_TRACE_INDEX_STACK_TREE_H

#include "base/array.h"

struct stack_tree {
    struct array
        nodes; /* of structs that begin with two uint32_t: the number of the parent, which is smaller
                           (of the root its own, 0), and the group. Number 0 is the root */
    struct array lines; /* of struct slot_line (stack_tree.c) */
    uint64_t *slots;    /* for nodes that have no place in their line; owned */
    size_t slot_count;  /* a power of two, at most 2^32 */
    size_t slots_used;
};

enum { STACK_ROOT = 0 };

/* With a root of this group, its other bytes 0. */
struct stack_tree stack_tree_new(size_t node_size, uint32_t root_group);
void stack_tree_free(struct stack_tree *tree);

/* The child of `parent` with this group; a new one is the last node, its other bytes 0. Moves the nodes. */
uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t group);

#endif
