/* Calling context trees of calls, added up on two sides so that they can be compared.
 *
 * A node stands for all activations of a function that were reached by the same functions, from the
 * call that is looked at on. A recursive call counts in the node of the activation around it, so a
 * path has each function once (Ammons, Ball and Larus, "Exploiting hardware performance counters
 * with flow and context sensitive profiling", 1997).
 *
 * Called by analysis/explanation.c. Memory: 200 bytes a node.
 */
#ifndef MAGIC_TRACE_INDEX_CONTEXT_TREE_H
#define MAGIC_TRACE_INDEX_CONTEXT_TREE_H

#include "index/span_search.h"
#include "index/stack_tree.h"

enum context_side { CONTEXT_USUAL, CONTEXT_SLOW, CONTEXT_SIDES };

struct context_sums {
    uint64_t calls;
    uint64_t self;    /* ns */
    uint64_t total;   /* ns: self of the node and of all below it; after context_tree_finish() */
    uint64_t present; /* calls that are looked at with this node */
};

struct context_node {
    uint32_t parent; /* a smaller number; of the root its own, 0 */
    uint32_t group;
    uint32_t target;    /* itself; or the node around it that stands for this recursive call too,
                           and then the sums are 0 and the node has no children */
    uint32_t last_seen; /* number of the call that met it last, from 1 */
    struct context_sums sides[CONTEXT_SIDES];
    struct call_place longest; /* of its activations on the slow side */
};

struct context_tree {
    struct stack_tree paths; /* its sums are not used */
    struct array nodes;      /* of struct context_node, with the numbers of `paths` */
    struct array active;     /* of uint32_t: the node at each depth of what is being read */
    uint32_t added;          /* calls, of both sides */
    uint64_t calls[CONTEXT_SIDES];
};

/* The root is a call of `group`. */
struct context_tree context_tree_new(uint32_t group);
void context_tree_free(struct context_tree *tree);

/* Adds a call of the root's group, with all that it calls. */
bool context_tree_add(struct context_tree *tree, const struct trace_index *index,
                      const struct call_place *call, enum context_side side, struct error *error);

/* Adds one activation: for context_tree_add(), and for tests that make trees by hand. `depth`
 * counts from the root's 0; callers come before what they call. */
void context_tree_enter(struct context_tree *tree, uint32_t depth, uint32_t group,
                        const struct call_place *place, enum context_side side);
void context_tree_begin_call(struct context_tree *tree, enum context_side side);

/* When all calls are added: computes the totals. */
void context_tree_finish(struct context_tree *tree);

static inline struct context_node *context_tree_node(const struct context_tree *tree,
                                                     uint32_t number)
{
    return (struct context_node *)tree->nodes.elements + number;
}

#endif
