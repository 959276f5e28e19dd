/* What a program does from one block on, learnt once: superblocks and TNT-cache entries.
 *
 * A superblock (block_cache.h) is what runs without a packet. A TNT-cache entry is what runs for
 * given TNT bits: the key is a block and the bits; the value is the block that is reached, the flow
 * events on the way, and the calls that remain on the return stack. So decoding costs one lookup
 * per packet where programs repeat themselves, and one edge per branch elsewhere; both are learnt
 * by walking block by block (block_walk.h).
 *
 * Used by the decoder, which has one TNT cache per process, together with its block cache.
 */
#ifndef MAGIC_TRACE_DECODE_PT_FAST_TNT_CACHE_H
#define MAGIC_TRACE_DECODE_PT_FAST_TNT_CACHE_H

#include "decode/pt/blocks/block_walk.h"
#include "decode/pt/fast/packet_cache.h"
#include "decode/pt/fast/path_counts.h"

enum {
    TNT_CACHE_BITS = 8, /* at most, in one entry */
};

/* In one cache line. */
struct tnt_entry {
    uint64_t key;  /* private */
    uint32_t next; /* id of the block that is reached; 0: the key has no entry */
    uint32_t instructions;
    const struct flow_event *events;   /* as in struct superblock */
    const struct return_place *pushes; /* as in struct superblock */
    uint64_t last_ip;                  /* of the newest instruction */
    uint64_t candidate;                /* private: the key that was last missed */
    uint16_t event_count;
    uint8_t push_count;
    uint8_t missed; /* private: how often `candidate` was missed in a row */
} __attribute__((aligned(64)));

struct tnt_cache {
    struct block_cache cache;
    struct tnt_entry *slots; /* by hash of the key: the latest entry that was worth learning */
    void *slots_memory;      /* owned */
    struct packet_cache packet_cache;
    struct path_counts *counts; /* owned; NULL: superblocks are not counted */
    struct arena memory;        /* of events and pushes, also of the packet-sequence cache */
    size_t memory_used;         /* bytes */
    uint64_t epoch;             /* counts how often all entries were dropped */
    uint64_t cache_epoch;       /* of the block cache, at that time */
    /* Recent hits and misses of lookups, and for how many more bits no lookup is made. */
    unsigned hits, misses, rest;
    struct control_flow learning;
    struct return_stack calls;
};

void tnt_cache_init(struct tnt_cache *tnt_cache, const struct process *process,
                    struct symbols *symbols);
void tnt_cache_free(struct tnt_cache *tnt_cache);

enum {
    TNT_CACHE_SLOTS = 1 << 14, /* one megabyte: more would push blocks and edges out of the
                                * processor's cache */
    TNT_CACHE_KEY_BITS = 32 + TNT_CACHE_BITS + 1,
};

/* Private. */
const struct tnt_entry *tnt_cache_miss(struct tnt_cache *tnt_cache, uint32_t block,
                                       uint32_t marked_bits);

static inline uint64_t tnt_entry_key(const struct tnt_cache *tnt_cache, uint32_t block,
                                     uint32_t marked_bits)
{
    return tnt_cache->epoch << TNT_CACHE_KEY_BITS | (uint64_t)block << (TNT_CACHE_BITS + 1) |
           marked_bits;
}

/* Direct-mapped: keys that are looked up often come back soon. */
static inline struct tnt_entry *tnt_cache_slot(const struct tnt_cache *tnt_cache, uint64_t key)
{
    return &tnt_cache->slots[key * UINT64_C(0x9e3779b97f4a7c15) >> 48 & (TNT_CACHE_SLOTS - 1)];
}

/* Whether to skip the next lookup, of `bits` bits. */
static inline bool tnt_cache_rest(struct tnt_cache *tnt_cache, unsigned bits)
{
    if (!tnt_cache->rest)
        return false;
    tnt_cache->rest -= bits < tnt_cache->rest ? bits : tnt_cache->rest;
    return true;
}

/* The entry from the block of this id on that takes the branches `marked_bits`: at most
 * TNT_CACHE_BITS, oldest first, under a leading 1. NULL: none, and it is not worth
 * learning yet; or the result depends on more than the block and the bits. Valid until the next
 * call. */
static inline const struct tnt_entry *tnt_cache_find(struct tnt_cache *tnt_cache, uint32_t block,
                                                     uint32_t marked_bits)
{
    uint64_t key = tnt_entry_key(tnt_cache, block, marked_bits);
    const struct tnt_entry *entry = tnt_cache_slot(tnt_cache, key);
    if (__builtin_expect(entry->key == key && entry->next, 1)) {
        tnt_cache->hits++;
        return entry;
    }
    return tnt_cache_miss(tnt_cache, block, marked_bits);
}

/* Must be called after blocks have been dropped from the cache: drops the entries that led through
 * them. */
void tnt_cache_keep_up(struct tnt_cache *tnt_cache);

/* Memory that lives until all TNT-cache and packet-sequence cache entries are dropped; never NULL,
 * whatever the size. */
void *tnt_cache_allocate(struct tnt_cache *tnt_cache, size_t size);

/* Fills block->superblock; its kind is not SUPERBLOCK_UNKNOWN afterwards. */
void tnt_cache_learn_superblock(struct tnt_cache *tnt_cache, struct block *block);

/* From now on the conditional jump at the end of block's superblock goes to `to` by block's edge,
 * if an edge can hold it. `event`: which the jump makes there; its time is that of the end of the
 * superblock. NULL: none. */
void tnt_cache_learn_edge(struct tnt_cache *tnt_cache, struct block *block, bool taken,
                          const struct block *to, const struct flow_event *event);

#endif
