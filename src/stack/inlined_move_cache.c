#include "stack/inlined_move_cache.h"

#include "base/memory.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 64, SLOTS_MAX = 8192 };

void inlined_move_cache_free(struct inlined_move_cache *cache)
{
    free(cache->slots);
    *cache = (struct inlined_move_cache){0};
}

/* What is in it is looked up again. */
static void grow(struct inlined_move_cache *cache)
{
    free(cache->slots);
    cache->slot_count = cache->slot_count == 0 ? SLOTS_FIRST : 2 * cache->slot_count;
    cache->missed = 0;
    cache->slots = memory_allocate_zeroed(cache->slot_count * sizeof *cache->slots);
}

uint32_t inlined_move_cache_number(struct inlined_move_cache *cache, struct inlined_moves *moves,
                                   inlined_id from, inlined_id to)
{
    uint32_t number = inlined_move_cache_find(cache, from, to);
    if (number != INLINED_MOVE_NONE)
        return number;
    number = inlined_moves_number(moves, from, to);
    if (number == INLINED_MOVE_NONE)
        return number;
    if (cache->slot_count == 0 ||
        (++cache->missed > cache->slot_count && cache->slot_count < SLOTS_MAX))
        grow(cache);
    *inlined_move_cache_slot(cache, from, to) = (struct cached_inlined_move){from, to, number};
    return number;
}
