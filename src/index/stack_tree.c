#include "index/stack_tree.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    FIRST_SLOTS = 1024,
    SLOTS_A_LINE = 8,   /* of 64 bytes */
    PARENTS_A_LINE = 4, /* at most half of the slots are filled, and a node has one parent */
};

static uint64_t *allocate_slots(size_t count)
{
    return memory_allocate_zeroed(count * sizeof(uint64_t));
}

struct stack_tree stack_tree_new(void)
{
    struct stack_tree tree = {
        .nodes = array_of(sizeof(struct stack_node)),
        .slots = allocate_slots(FIRST_SLOTS),
        .slot_count = FIRST_SLOTS,
    };
    ((struct stack_node *)array_add(&tree.nodes))->group = UINT32_MAX;
    return tree;
}

void stack_tree_free(struct stack_tree *tree)
{
    array_free(&tree->nodes);
    free(tree->slots);
}

static uint32_t hash_of(uint32_t parent, uint32_t group)
{
    const uint64_t key = (uint64_t)parent << 32 | group;
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static bool is_slot_of(const struct stack_tree *tree, uint64_t slot, uint32_t parent,
                       uint32_t group)
{
    if (slot >> 32 != hash_of(parent, group))
        return false;
    const struct stack_node *node = stack_tree_node(tree, (uint32_t)slot - 1);
    return node->parent == parent && node->group == group;
}

/* The slot of the node, or the free one where it belongs.
 *
 * Traces are read callers first, so the numbers of nodes that are looked for one after the other
 * are near each other. A node's slot is therefore in a line of the cache that its parent's number
 * gives: a tree of millions of nodes would miss the cache at every one if the hash gave it. Only
 * where that line is full does the hash. */
static uint64_t *find_slot(const struct stack_tree *tree, uint32_t parent, uint32_t group)
{
    uint64_t *line = &tree->slots[parent / PARENTS_A_LINE * SLOTS_A_LINE];
    for (int i = 0; i < SLOTS_A_LINE; i++)
        if (line[i] == 0 || is_slot_of(tree, line[i], parent, group))
            return &line[i];
    for (size_t i = hash_of(parent, group);; i++) {
        uint64_t *slot = &tree->slots[i & (tree->slot_count - 1)];
        if (*slot == 0 || is_slot_of(tree, *slot, parent, group))
            return slot;
    }
}

static void fill_slot(struct stack_tree *tree, uint64_t *slot, uint32_t number)
{
    const struct stack_node *node = stack_tree_node(tree, number);
    *slot = (uint64_t)hash_of(node->parent, node->group) << 32 | (number + 1);
}

static void grow(struct stack_tree *tree)
{
    free(tree->slots);
    tree->slot_count *= 2;
    tree->slots = allocate_slots(tree->slot_count);
    for (uint32_t i = STACK_ROOT + 1; i < tree->nodes.count; i++) {
        const struct stack_node *node = stack_tree_node(tree, i);
        fill_slot(tree, find_slot(tree, node->parent, node->group), i);
    }
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t group)
{
    uint64_t *slot = find_slot(tree, parent, group);
    if (*slot)
        return (uint32_t)*slot - 1;
    const struct stack_node node = {.parent = parent, .group = group};
    const uint32_t number = (uint32_t)tree->nodes.count;
    array_add_all(&tree->nodes, &node, 1);
    fill_slot(tree, slot, number);
    if (2 * tree->nodes.count > tree->slot_count)
        grow(tree);
    return number;
}
