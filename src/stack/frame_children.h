/* Finding a frame's children.
 *
 * Most frames have few children: a list, the newest first. The children of a frame with many are in
 * a hash table, one for the whole tree. So the data for a call are near the caller in memory, even
 * with millions of frames. Children that are called again and again need no search: the last ones
 * found are cached by their hash.
 *
 * A part of frame_tree, which alone calls it. `store` holds the frames.
 */
#ifndef MAGIC_TRACE_STACK_FRAME_CHILDREN_H
#define MAGIC_TRACE_STACK_FRAME_CHILDREN_H

#include "stack/frame.h"

/* 16 KiB per thread stay in the cache, and hold the children that a program uses for a while. */
enum { FRAME_RECENT_BITS = 12, FRAME_RECENT_COUNT = 1 << FRAME_RECENT_BITS };

/* Where children are found again. */
struct frame_children {
    frame_id *recent;      /* the last ones found, by their hash; owned */
    frame_id *buckets;     /* owned */
    uint32_t bucket_count; /* a power of two */
    uint32_t in_table;     /* frames */
};

/* Multiplication by an odd constant (the fractional part of the golden ratio) spreads the few bits
 * in which neighbouring frames differ over the upper half of the word, which is the part that is
 * used. */
static inline uint32_t frame_hash(frame_id parent, function_id function, uint64_t return_address)
{
    uint64_t hash = return_address ^ ((uint64_t)parent << 32 | function);
    return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* The slot that may hold the child with this hash. */
static inline frame_id *frame_children_recent(const struct frame_children *children, uint32_t hash)
{
    return &children->recent[hash >> (32 - FRAME_RECENT_BITS)];
}

void frame_children_init(struct frame_children *children);
void frame_children_free(struct frame_children *children);

/* The child of `parent` that is `activation`; FRAME_NONE if not found. */
frame_id frame_children_find(struct frame_children *children, const struct frame_store *store,
                             frame_id parent, const struct activation *activation);

/* `child` must be new to its parent. */
void frame_children_add(struct frame_children *children, const struct frame_store *store,
                        frame_id child);

#endif
