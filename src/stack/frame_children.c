#include "stack/frame_children.h"

#include "base/memory.h"

#include <stdlib.h>

/* A frame with more children has them in the hash table. */
enum { LIST_MAXIMUM = 8 };

enum { FIRST_BUCKET_COUNT = 64, FRAMES_PER_BUCKET = 2 };

static frame_id *allocate_buckets(uint32_t count)
{
    return memory_allocate_zeroed((size_t)count * sizeof(frame_id));
}

void frame_children_init(struct frame_children *children)
{
    *children = (struct frame_children){
        .recent = memory_allocate_zeroed(FRAME_RECENT_COUNT * sizeof(frame_id)),
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

/* --- Many children: the hash table. --- */

static void insert(struct frame_children *children, const struct frame_store *store, frame_id id)
{
    struct frame *frame = frame_store_at(store, id);
    uint32_t hash = frame_hash(frame->parent, frame->function, frame->return_address);
    frame_id *bucket = &children->buckets[hash & (children->bucket_count - 1)];
    frame->next = *bucket;
    frame->in_table = true;
    *bucket = id;
}

static void grow_buckets(struct frame_children *children, const struct frame_store *store)
{
    free(children->buckets);
    children->bucket_count *= 2;
    children->buckets = allocate_buckets(children->bucket_count);
    for (frame_id id = 1; id < store->count; id++)
        if (frame_store_at(store, id)->in_table)
            insert(children, store, id);
}

static void add_to_table(struct frame_children *children, const struct frame_store *store,
                         frame_id id)
{
    insert(children, store, id);
    children->in_table++;
    if (children->in_table / FRAMES_PER_BUCKET > children->bucket_count &&
        children->bucket_count <= UINT32_MAX / 2)
        grow_buckets(children, store);
}

static frame_id find_in_table(const struct frame_children *children,
                              const struct frame_store *store, uint32_t hash, frame_id parent,
                              const struct activation *activation)
{
    frame_id id = children->buckets[hash & (children->bucket_count - 1)];
    while (id != FRAME_NONE && !frame_is_activation(store, id, parent, activation))
        id = frame_store_at(store, id)->next;
    return id;
}

/* --- Few children: the list. --- */

static frame_id find_in_list(const struct frame_store *store, frame_id first, frame_id parent,
                             const struct activation *activation)
{
    frame_id id = first;
    while (id != FRAME_NONE && !frame_is_activation(store, id, parent, activation))
        id = frame_store_at(store, id)->next;
    return id;
}

static bool is_full_list(const struct frame_store *store, frame_id first)
{
    int count = 0;
    for (frame_id id = first; id != FRAME_NONE && count < LIST_MAXIMUM; count++)
        id = frame_store_at(store, id)->next;
    return count == LIST_MAXIMUM;
}

static void move_to_table(struct frame_children *children, const struct frame_store *store,
                          frame_id first)
{
    frame_id next;
    for (frame_id id = first; id != FRAME_NONE; id = next) {
        next = frame_store_at(store, id)->next;
        add_to_table(children, store, id);
    }
}

static frame_id find_among_all(const struct frame_children *children,
                               const struct frame_store *store, uint32_t hash, frame_id parent,
                               const struct activation *activation)
{
    frame_id first = frame_store_at(store, parent)->first_child;
    bool in_table = first != FRAME_NONE && frame_store_at(store, first)->in_table;
    return in_table ? find_in_table(children, store, hash, parent, activation)
                    : find_in_list(store, first, parent, activation);
}

frame_id frame_children_find(struct frame_children *children, const struct frame_store *store,
                             frame_id parent, const struct activation *activation)
{
    uint32_t hash = frame_hash(parent, activation->function, activation->return_address);
    frame_id *recent = frame_children_recent(children, hash);
    if (*recent == FRAME_NONE || !frame_is_activation(store, *recent, parent, activation))
        *recent = find_among_all(children, store, hash, parent, activation);
    return *recent;
}

void frame_children_add(struct frame_children *children, const struct frame_store *store,
                        frame_id child)
{
    frame_id *first = &frame_store_at(store, frame_store_at(store, child)->parent)->first_child;
    if (*first != FRAME_NONE && !frame_store_at(store, *first)->in_table &&
        is_full_list(store, *first))
        move_to_table(children, store, *first);
    if (*first != FRAME_NONE && frame_store_at(store, *first)->in_table)
        add_to_table(children, store, child);
    else
        frame_store_at(store, child)->next = *first;
    *first = child;
}
