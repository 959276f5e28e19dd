#include "index/stack_tree.h"

#include "base/memory.h"
#include "base/smaller.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    FIRST_SLOTS = 1024,
    SLOTS_A_LINE = 8,   /* of the cache, of 64 bytes */
    PARENTS_A_LINE = 4, /* a node has one parent, so half of the slots are filled on average */
    NODES_AHEAD = 8192, /* whose pages are made at once */
};

/* Where the children of PARENTS_A_LINE nodes are found. A slot: the hash of a node << 32 | 1 + its
 * number; 0: free. */
struct slot_line {
    uint64_t slots[SLOTS_A_LINE];
};

static struct slot_line *line_of(const struct stack_tree *tree, uint32_t parent)
{
    return (struct slot_line *)tree->lines.elements + parent / PARENTS_A_LINE;
}

static uint32_t *key_of(const struct stack_tree *tree, uint32_t number)
{
    return array_at(&tree->nodes, number);
}

/* Of the node and the next ones. */
static void make_pages(struct stack_tree *tree, uint32_t number)
{
    size_t count = smaller(tree->nodes.capacity - number, NODES_AHEAD);
    memory_make_pages(key_of(tree, number), count * tree->nodes.element_size);
}

static uint32_t add_node(struct stack_tree *tree, uint32_t parent, uint32_t group)
{
    const uint32_t number = (uint32_t)tree->nodes.count;
    uint32_t *key = array_add(&tree->nodes);
    key[0] = parent;
    key[1] = group;
    if (number % NODES_AHEAD == 0)
        make_pages(tree, number);
    if (number % PARENTS_A_LINE == 0)
        array_add(&tree->lines);
    return number;
}

struct stack_tree stack_tree_new(size_t node_size, uint32_t root_group)
{
    struct stack_tree tree = {
        .nodes = array_of(node_size),
        .lines = array_of(sizeof(struct slot_line)),
        .slots = memory_allocate_cleared(FIRST_SLOTS * sizeof *tree.slots),
        .slot_count = FIRST_SLOTS,
    };
    add_node(&tree, STACK_ROOT, root_group);
    return tree;
}

void stack_tree_free(struct stack_tree *tree)
{
    array_free(&tree->nodes);
    array_free(&tree->lines);
    free(tree->slots);
}

static uint32_t hash_of(uint32_t parent, uint32_t group)
{
    const uint64_t key = (uint64_t)parent << 32 | group;
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static bool is_slot_of(const struct stack_tree *tree, uint64_t slot, uint32_t hash, uint32_t parent,
                       uint32_t group)
{
    if (slot >> 32 != hash)
        return false;
    const uint32_t *key = key_of(tree, (uint32_t)slot - 1);
    return key[0] == parent && key[1] == group;
}

/* The slot of the node in its parent's line, or the free one where it belongs; NULL: the line is full.
 *
 * Traces are read callers first, so the numbers of nodes that are looked for one after the other
 * are near each other, and so are these lines: a tree of millions of nodes would miss the cache at
 * every one if the hash gave the place. */
static uint64_t *find_in_line(const struct stack_tree *tree, uint32_t hash, uint32_t parent,
                              uint32_t group)
{
    struct slot_line *line = line_of(tree, parent);
    for (int i = 0; i < SLOTS_A_LINE; i++)
        if (line->slots[i] == 0 || is_slot_of(tree, line->slots[i], hash, parent, group))
            return &line->slots[i];
    return NULL;
}

/* The slot of the node, or the free one where it belongs, when its parent's line is full. */
static uint64_t *find_in_table(const struct stack_tree *tree, uint32_t hash, uint32_t parent,
                               uint32_t group)
{
    for (size_t i = hash;; i++) {
        uint64_t *slot = &tree->slots[i & (tree->slot_count - 1)];
        if (*slot == 0 || is_slot_of(tree, *slot, hash, parent, group))
            return slot;
    }
}

static void grow(struct stack_tree *tree)
{
    const size_t old_count = tree->slot_count, mask = 2 * old_count - 1;
    uint64_t *old = tree->slots;
    tree->slot_count *= 2;
    tree->slots = memory_allocate_cleared(tree->slot_count * sizeof *tree->slots);
    for (size_t i = 0; i < old_count; i++) {
        size_t at = old[i] >> 32;
        while (old[i] && tree->slots[at & mask])
            at++;
        if (old[i])
            tree->slots[at & mask] = old[i];
    }
    free(old);
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t group)
{
    const uint32_t hash = hash_of(parent, group);
    uint64_t *in_line = find_in_line(tree, hash, parent, group);
    uint64_t *slot = in_line ? in_line : find_in_table(tree, hash, parent, group);
    if (*slot) {
        uint32_t number = (uint32_t)*slot - 1;
        __builtin_prefetch(line_of(tree, number)); /* it may be the next parent */
        return number;
    }
    *slot = (uint64_t)hash << 32 | (tree->nodes.count + 1);
    tree->slots_used += !in_line;
    if (2 * tree->slots_used > tree->slot_count)
        grow(tree);
    return add_node(tree, parent, group);
}
