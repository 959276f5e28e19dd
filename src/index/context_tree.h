/* Calling context trees of calls, added up on two sides so that they can be compared.
 *
 * A node stands for all activations of a function that were reached by the same functions, from the
 * call that is looked at on. A recursive call counts in the node of the activation around it, so a
 * path has each function once (Ammons, Ball and Larus, "Exploiting hardware performance counters
 * with flow and context sensitive profiling", 1997).
 *
 * Called by analysis/. Memory: 136 bytes a node, besides what
 * stack_tree.h says.
 */
#ifndef MAGIC_TRACE_INDEX_CONTEXT_TREE_H
#define MAGIC_TRACE_INDEX_CONTEXT_TREE_H

#include "index/off_cpu_times.h"
#include "index/span_search.h"
#include "index/split_calls.h"
#include "index/stack_tree.h"

/* What is compared: usual calls with slow ones, or a part A of a trace with a part B. */
enum context_side {
    CONTEXT_USUAL,
    CONTEXT_SLOW,
    CONTEXT_SIDES,
    CONTEXT_A = CONTEXT_USUAL,
    CONTEXT_B = CONTEXT_SLOW,
};

struct context_sums {
    uint64_t calls;
    uint64_t self;    /* ns */
    uint64_t total;   /* ns: self of the node and of all below it; after context_tree_finish() */
    uint64_t longest; /* ns, of an activation with all that it calls */
};

struct context_node {
    uint32_t parent; /* a smaller number; of the root its own, 0 */
    uint32_t group;
    uint32_t target; /* itself; or the node around it that stands for this recursive call too,
                           and then the sums are 0 and the node has no children */
    uint32_t last_seen : 31;         /* number of the call that met it last, from 1 */
    uint32_t is_recursive : 1;       /* it stands for recursive calls, too */
    uint32_t present[CONTEXT_SIDES]; /* calls that are looked at with this node */
    struct context_sums sides[CONTEXT_SIDES];
    /* Of the slow side: */
    uint64_t suspended; /* ns of self: its stack was suspended, and others ran (split_calls.h) */
    struct call_place longest; /* of its activations */
};

struct context_tree {
    struct stack_tree paths; /* its nodes are struct context_node */
    struct array active;     /* of uint32_t: the node at each depth of what is being read */
    uint32_t added;          /* calls, of both sides */
    uint64_t calls[CONTEXT_SIDES];
};

/* What is read. */
struct context_source {
    const struct trace_index *index;
    const uint32_t *ids; /* by group: the number that stands for it in the tree, so that two traces
                            can be in one tree; NULL: its own */
    const struct split_calls
        *split; /* calls of several spans, read as one each; NULL: no call is split */
    const struct off_cpu_times *left_out; /* time of calls that does not count; NULL: all counts */
};

/* The root is a call of `group`, or what calls all threads' outermost functions. */
struct context_tree context_tree_new(uint32_t group);
void context_tree_free(struct context_tree *tree);

/* Adds a call, which is the root, with all that it calls. */
bool context_tree_add(struct context_tree *tree, struct context_source source,
                      const struct call_place *call, enum context_side side, struct error *error);

/* Adds what all threads do in the range, below the root. */
bool context_tree_add_range(struct context_tree *tree, struct context_source source,
                            struct index_range range, enum context_side side, struct error *error);

/* Adds one activation: for context_tree_add(), and for tests that make trees by hand. `depth`
 * counts from the root's 0; callers come before what they call. */
void context_tree_enter(struct context_tree *tree, uint32_t depth, uint32_t group,
                        const struct call_place *place, enum context_side side);
void context_tree_begin_call(struct context_tree *tree, enum context_side side);

/* When all calls are added, once: computes the totals. */
void context_tree_finish(struct context_tree *tree);

static inline struct context_node *context_tree_node(const struct context_tree *tree,
                                                     uint32_t number)
{
    return (struct context_node *)tree->paths.nodes.elements + number;
}

static inline uint32_t context_tree_size(const struct context_tree *tree)
{
    return (uint32_t)tree->paths.nodes.count;
}

#endif
