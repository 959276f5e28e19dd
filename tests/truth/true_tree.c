#include "true_tree.h"

#include "base/memory.h"

#include <stdlib.h>

enum { FIRST_BUCKET_COUNT = 1024 };

void true_tree_init(struct true_tree *tree)
{
    *tree = (struct true_tree){
        .nodes = array_of(sizeof(struct true_tree_node)),
        .bucket_count = FIRST_BUCKET_COUNT,
        .buckets = memory_allocate_zeroed(FIRST_BUCKET_COUNT * sizeof(true_node)),
    };
    array_add(&tree->nodes); /* the empty stack */
}

void true_tree_free(struct true_tree *tree)
{
    array_free(&tree->nodes);
    free(tree->buckets);
}

static size_t bucket_of(const struct true_tree *tree, true_node parent, function_id function)
{
    uint64_t hash = ((uint64_t)parent << 32 | function) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 32) & (tree->bucket_count - 1);
}

static void put_in_bucket(struct true_tree *tree, true_node id)
{
    const struct true_tree_node *node = true_tree_at(tree, id);
    size_t bucket = bucket_of(tree, node->parent, node->function);
    while (tree->buckets[bucket])
        bucket = (bucket + 1) & (tree->bucket_count - 1);
    tree->buckets[bucket] = id;
}

static void grow_buckets(struct true_tree *tree)
{
    free(tree->buckets);
    tree->bucket_count *= 2;
    tree->buckets = memory_allocate_zeroed(tree->bucket_count * sizeof *tree->buckets);
    for (true_node id = 1; id < tree->nodes.count; id++)
        put_in_bucket(tree, id);
}

true_node true_tree_child(struct true_tree *tree, true_node parent, function_id function)
{
    size_t bucket = bucket_of(tree, parent, function);
    for (true_node id; (id = tree->buckets[bucket]);
         bucket = (bucket + 1) & (tree->bucket_count - 1)) {
        const struct true_tree_node *node = true_tree_at(tree, id);
        if (node->parent == parent && node->function == function)
            return id;
    }
    true_node id = (true_node)tree->nodes.count;
    uint32_t depth = true_tree_at(tree, parent)->depth + 1;
    *(struct true_tree_node *)array_add(&tree->nodes) =
        (struct true_tree_node){.parent = parent, .function = function, .depth = depth};
    put_in_bucket(tree, id);
    if (tree->nodes.count > tree->bucket_count / 2)
        grow_buckets(tree);
    return id;
}
