#include "decode/pt/fast/packet_cache.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    /* An entry is learnt after this many misses of its key in a row. */
    MISSES = 2,
    MISSES_JUDGED = 1 << 8, /* after this many misses the hits decide whether lookups pay: */
    HITS_PER_MISS = 8,      /* they do if there were this many hits per miss */
    SHORTEST_REST = 1 << 8, /* packets */
    LONGEST_REST = 1 << 16,
};

void packet_cache_init(struct packet_cache *packet_cache)
{
    size_t size = sizeof(*packet_cache->slots) << PACKET_CACHE_SLOTS_LOG;
    size_t alignment = _Alignof(struct packet_sequence);
    *packet_cache = (struct packet_cache){.memory = memory_allocate_zeroed(size + alignment),
                                          .next_rest = SHORTEST_REST};
    packet_cache->slots = memory_align(packet_cache->memory, alignment);
}

void packet_cache_free(struct packet_cache *packet_cache)
{
    free(packet_cache->memory);
}

static void judge(struct packet_cache *packet_cache)
{
    bool worth_while = packet_cache->hits >= MISSES_JUDGED * HITS_PER_MISS;
    if (!worth_while)
        packet_cache->rest = packet_cache->next_rest;
    if (worth_while)
        packet_cache->next_rest = SHORTEST_REST;
    else if (packet_cache->next_rest < LONGEST_REST)
        packet_cache->next_rest *= 2;
    packet_cache->hits = packet_cache->misses = 0;
}

bool packet_cache_miss(struct packet_cache *packet_cache, struct packet_sequence *slot,
                       uint64_t hash)
{
    if (++packet_cache->misses == MISSES_JUDGED)
        judge(packet_cache);
    slot->missed = slot->candidate == (uint32_t)hash ? slot->missed + 1 : 1;
    slot->candidate = (uint32_t)hash;
    if (slot->missed < MISSES)
        return false;
    slot->missed = 0;
    return true;
}
