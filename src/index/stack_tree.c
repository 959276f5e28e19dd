#include "index/stack_tree.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

struct stack_tree stack_tree_new(void)
{
    struct stack_tree tree = {
        .nodes = array_of(sizeof(struct stack_node)),
        .slots = memory_allocate_zeroed(FIRST_SLOTS * sizeof(uint32_t)),
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

/* The slot of the node, or the free one where it belongs. */
static uint32_t *find_slot(const struct stack_tree *tree, uint32_t parent, uint32_t group)
{
    uint64_t hash = ((uint64_t)parent << 32 | group) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = hash >> 32;; i++) {
        uint32_t *slot = &tree->slots[i & (tree->slot_count - 1)];
        if (*slot == 0)
            return slot;
        const struct stack_node *node = stack_tree_node(tree, *slot - 1);
        if (node->parent == parent && node->group == group)
            return slot;
    }
}

static void grow(struct stack_tree *tree)
{
    free(tree->slots);
    tree->slot_count *= 2;
    tree->slots = memory_allocate_zeroed(tree->slot_count * sizeof(uint32_t));
    for (uint32_t i = STACK_ROOT + 1; i < tree->nodes.count; i++) {
        const struct stack_node *node = stack_tree_node(tree, i);
        *find_slot(tree, node->parent, node->group) = i + 1;
    }
}

uint32_t stack_tree_child(struct stack_tree *tree, uint32_t parent, uint32_t group)
{
    uint32_t *slot = find_slot(tree, parent, group);
    if (*slot)
        return *slot - 1;
    const struct stack_node node = {.parent = parent, .group = group};
    array_add_all(&tree->nodes, &node, 1);
    *slot = (uint32_t)tree->nodes.count;
    if (2 * tree->nodes.count > tree->slot_count)
        grow(tree);
    return (uint32_t)tree->nodes.count - 1;
}
