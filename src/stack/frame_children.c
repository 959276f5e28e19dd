#include "stack/frame_children.h"

#include "base/memory.h"

#include <stdlib.h>

/* More children than that are in the hash table. */
enum { LIST_MAXIMUM = 8 };

enum { FIRST_BUCKET_COUNT = 64, FRAMES_PER_BUCKET = 2 };

/* 16 KiB per thread stay in the cache, and hold the children that a stretch of a program meets. */
enum { RECENT_BITS = 12, RECENT_COUNT = 1 << RECENT_BITS };

static frame_id *allocate_buckets(uint32_t count)
{
    return memory_allocate_zeroed((size_t)count * sizeof(frame_id));
}

void frame_children_init(struct frame_children *children)
{
    *children = (struct frame_children){
        .recent = memory_allocate_zeroed(RECENT_COUNT * sizeof(frame_id)),
        .buckets = allocate_buckets(FIRST_BUCKET_COUNT),
        .bucket_count = FIRST_BUCKET_COUNT,
    };
}

void frame_children_free(struct frame_children *children)
{
    free(children->buckets);
    free(children->recent);
    *children = (struct frame_children){0};
}

static inline bool is_activation(const struct frame_tree *tree, frame_id id, frame_id parent,
                                 const struct activation *activation)
{
    const struct frame *frame = frame_tree_at(tree, id);
    return frame->return_address == activation->return_address && frame->parent == parent &&
           frame->function == activation->function && frame->kind == activation->kind &&
           frame_tree_origin(tree, id) == activation->origin;
}

/* Multiplication by odd constants (the fractional parts of the golden ratio and of sqrt(3)) spreads
 * the few bits in which neighbouring frames differ over the upper half of the word, which is what
 * is kept. */
static uint32_t hash_child(frame_id parent, function_id function, uint64_t return_address)
{
    uint64_t hash = return_address * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= ((uint64_t)parent << 32 | function) * UINT64_C(0xbb67ae8584caa73b);
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

/* --- Many children: the hash table. --- */

static void insert(struct frame_tree *tree, frame_id id)
{
    struct frame *frame = frame_tree_at(tree, id);
    uint32_t hash = hash_child(frame->parent, frame->function, frame->return_address);
    frame_id *bucket = &tree->children.buckets[hash & (tree->children.bucket_count - 1)];
    frame->next = *bucket;
    frame->in_table = true;
    *bucket = id;
}

static void grow_buckets(struct frame_tree *tree)
{
    free(tree->children.buckets);
    tree->children.bucket_count *= 2;
    tree->children.buckets = allocate_buckets(tree->children.bucket_count);
    for (frame_id id = 1; id < tree->count; id++)
        if (frame_tree_at(tree, id)->in_table)
            insert(tree, id);
}

static void add_to_table(struct frame_tree *tree, frame_id id)
{
    struct frame_children *children = &tree->children;
    insert(tree, id);
    children->in_table++;
    if (children->in_table / FRAMES_PER_BUCKET > children->bucket_count &&
        children->bucket_count <= UINT32_MAX / 2)
        grow_buckets(tree);
}

static frame_id find_in_table(const struct frame_tree *tree, uint32_t hash, frame_id parent,
                              const struct activation *activation)
{
    frame_id id = tree->children.buckets[hash & (tree->children.bucket_count - 1)];
    while (id != FRAME_NONE && !is_activation(tree, id, parent, activation))
        id = frame_tree_at(tree, id)->next;
    return id;
}

/* --- Few children: the list. --- */

static frame_id find_in_list(const struct frame_tree *tree, frame_id first, frame_id parent,
                             const struct activation *activation)
{
    frame_id id = first;
    while (id != FRAME_NONE && !is_activation(tree, id, parent, activation))
        id = frame_tree_at(tree, id)->next;
    return id;
}

static bool is_full_list(const struct frame_tree *tree, frame_id first)
{
    int count = 0;
    for (frame_id id = first; id != FRAME_NONE && count < LIST_MAXIMUM; count++)
        id = frame_tree_at(tree, id)->next;
    return count == LIST_MAXIMUM;
}

static void move_to_table(struct frame_tree *tree, frame_id first)
{
    frame_id next;
    for (frame_id id = first; id != FRAME_NONE; id = next) {
        next = frame_tree_at(tree, id)->next;
        add_to_table(tree, id);
    }
}

static frame_id find_among_all(const struct frame_tree *tree, uint32_t hash, frame_id parent,
                               const struct activation *activation)
{
    frame_id first = frame_tree_at(tree, parent)->first_child;
    bool in_table = first != FRAME_NONE && frame_tree_at(tree, first)->in_table;
    return in_table ? find_in_table(tree, hash, parent, activation)
                    : find_in_list(tree, first, parent, activation);
}

frame_id frame_children_find(struct frame_tree *tree, frame_id parent,
                             const struct activation *activation)
{
    uint32_t hash = hash_child(parent, activation->function, activation->return_address);
    frame_id *recent = &tree->children.recent[hash >> (32 - RECENT_BITS)];
    if (*recent == FRAME_NONE || !is_activation(tree, *recent, parent, activation))
        *recent = find_among_all(tree, hash, parent, activation);
    return *recent;
}

void frame_children_add(struct frame_tree *tree, frame_id child)
{
    frame_id *first = &frame_tree_at(tree, frame_tree_at(tree, child)->parent)->first_child;
    if (*first != FRAME_NONE && !frame_tree_at(tree, *first)->in_table &&
        is_full_list(tree, *first))
        move_to_table(tree, *first);
    if (*first != FRAME_NONE && frame_tree_at(tree, *first)->in_table)
        add_to_table(tree, child);
    else
        frame_tree_at(tree, child)->next = *first;
    *first = child;
}
