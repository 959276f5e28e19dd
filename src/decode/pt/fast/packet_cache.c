#include "decode/pt/fast/packet_cache.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    /* A memo is learnt when it has been missed so often, with no other in between. */
    MISSES = 2,
    MISSES_JUDGED = 1 << 8, /* after so many it is time to see whether looking is worth while: */
    HITS_PER_MISS = 8,      /* when there are so many hits for each */
    SHORTEST_REST = 1 << 8, /* packets */
    LONGEST_REST = 1 << 16,
};

void memos_init(struct memos *memos)
{
    size_t size = sizeof(*memos->slots) << MEMO_SLOTS_LOG;
    size_t alignment = _Alignof(struct memo);
    *memos = (struct memos){.memory = memory_allocate_zeroed(size + alignment),
                            .next_rest = SHORTEST_REST};
    memos->slots = memory_align(memos->memory, alignment);
}

void memos_free(struct memos *memos)
{
    free(memos->memory);
}

static void judge(struct memos *memos)
{
    bool worth_while = memos->hits >= MISSES_JUDGED * HITS_PER_MISS;
    if (!worth_while)
        memos->rest = memos->next_rest;
    if (worth_while)
        memos->next_rest = SHORTEST_REST;
    else if (memos->next_rest < LONGEST_REST)
        memos->next_rest *= 2;
    memos->hits = memos->misses = 0;
}

bool memos_miss(struct memos *memos, struct memo *slot, uint64_t hash)
{
    if (++memos->misses == MISSES_JUDGED)
        judge(memos);
    slot->missed = slot->candidate == (uint32_t)hash ? slot->missed + 1 : 1;
    slot->candidate = (uint32_t)hash;
    if (slot->missed < MISSES)
        return false;
    slot->missed = 0;
    return true;
}
