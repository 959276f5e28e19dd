/* One thread's cache of the numbers of moves between inlined functions (inlined_moves.h).
 *
 * A table in which a pair takes the place of another one with the same slot; it grows as long as pairs are missed often.
 * Empty until the thread's first move. Owned by a thread's stack; used by inlined_functions.h.
 */
#ifndef MAGIC_TRACE_STACK_INLINED_MOVE_CACHE_H
#define MAGIC_TRACE_STACK_INLINED_MOVE_CACHE_H

#include "stack/inlined_moves.h"

struct cached_inlined_move {
    inlined_id from, to; /* equal: the slot is free */
    uint32_t number;
};

struct inlined_move_cache {
    struct cached_inlined_move *slots; /* owned */
    uint32_t slot_count;               /* a power of two, or 0 */
    uint32_t missed;                   /* since it last grew */
};

void inlined_move_cache_free(struct inlined_move_cache *cache);

static inline struct cached_inlined_move *
inlined_move_cache_slot(const struct inlined_move_cache *cache, inlined_id from, inlined_id to)
{
    uint32_t hash = (from * UINT32_C(0x85ebca6b) ^ to) * UINT32_C(2654435769);
    return &cache->slots[hash >> 16 & (cache->slot_count - 1)];
}

/* INLINED_MOVE_NONE: the pair is not in the cache. */
static inline uint32_t inlined_move_cache_find(const struct inlined_move_cache *cache,
                                               inlined_id from, inlined_id to)
{
    if (cache->slot_count == 0)
        return INLINED_MOVE_NONE;
    const struct cached_inlined_move *slot = inlined_move_cache_slot(cache, from, to);
    return slot->from == from && slot->to == to ? slot->number : INLINED_MOVE_NONE;
}

/* As inlined_moves_number. */
uint32_t inlined_move_cache_number(struct inlined_move_cache *cache, struct inlined_moves *moves,
                                   inlined_id from, inlined_id to);

#endif
