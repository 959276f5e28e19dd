/* What a program does from one block on, found out once: strides and paths.
 *
 * A stride (block_cache.h) is what runs without a packet. A path is what runs for given TNT bits:
 * the key is a block and the bits, the value is the block that is reached, the flow events that
 * happen on the way, and the calls that are left on the return stack. So decoding costs a lookup
 * per packet where programs do the same again and again, and a step per branch elsewhere; both are
 * learnt by walking block by block (block_walk.h).
 *
 * Used by the decoder, which has one set of paths per process, together with its block cache.
 */
#ifndef MAGIC_TRACE_DECODE_PT_FAST_TNT_CACHE_H
#define MAGIC_TRACE_DECODE_PT_FAST_TNT_CACHE_H

#include "decode/pt/blocks/block_walk.h"
#include "decode/pt/fast/packet_cache.h"

enum {
    PATH_BITS = 8, /* at most, in one path */
};

/* In one cache line. */
struct path {
    uint64_t key;  /* private */
    uint32_t next; /* id of the block that is reached; 0: there is no such path */
    uint32_t instructions;
    const struct flow_event *events;   /* as in struct stride */
    const struct return_place *pushes; /* as in struct stride */
    uint64_t last_ip;                  /* of the newest instruction */
    uint64_t candidate;                /* private: the key that was looked for in vain */
    uint16_t event_count;
    uint8_t push_count;
    uint8_t missed; /* private: how often `candidate` was, in a row */
} __attribute__((aligned(64)));

struct paths {
    struct block_cache cache;
    struct path *slots; /* by hash of the key: the latest that was worth it */
    void *slots_memory; /* owned */
    struct memos memos;
    struct arena memory;  /* of events and pushes, and of the memos' */
    size_t memory_used;   /* bytes */
    uint64_t epoch;       /* counts how often all paths were forgotten */
    uint64_t cache_epoch; /* of the cache, when they were */
    /* How the lookups went lately, and for how many more bits nobody is to try. */
    unsigned hits, misses, rest;
    struct control_flow learning;
    struct return_stack calls;
};

void paths_init(struct paths *paths, const struct process *process, struct symbols *symbols);
void paths_free(struct paths *paths);

enum {
    PATH_SLOTS = 1 << 14, /* one megabyte: more would push blocks and steps out of the cache */
    PATH_KEY_BITS = 32 + PATH_BITS + 1,
};

/* Private. */
const struct path *paths_miss(struct paths *paths, uint32_t block, uint32_t marked_bits);

static inline uint64_t path_key(const struct paths *paths, uint32_t block, uint32_t marked_bits)
{
    return paths->epoch << PATH_KEY_BITS | (uint64_t)block << (PATH_BITS + 1) | marked_bits;
}

/* Direct-mapped: what is looked for often comes back soon. */
static inline struct path *path_slot(const struct paths *paths, uint64_t key)
{
    return &paths->slots[key * UINT64_C(0x9e3779b97f4a7c15) >> 48 & (PATH_SLOTS - 1)];
}

/* Whether the next lookup, of `bits` bits, is better left out. */
static inline bool paths_rest(struct paths *paths, unsigned bits)
{
    if (!paths->rest)
        return false;
    paths->rest -= bits < paths->rest ? bits : paths->rest;
    return true;
}

/* The path from the block of this id on that takes the branches `marked_bits`: at most PATH_BITS,
 * oldest first, under a leading 1. NULL: it is not known, and so far not worth learning; or it
 * needs more than the block and the bits. Valid until the next call. */
static inline const struct path *paths_find(struct paths *paths, uint32_t block,
                                            uint32_t marked_bits)
{
    uint64_t key = path_key(paths, block, marked_bits);
    const struct path *path = path_slot(paths, key);
    if (__builtin_expect(path->key == key && path->next, 1)) {
        paths->hits++;
        return path;
    }
    return paths_miss(paths, block, marked_bits);
}

/* To be called when blocks have been dropped from the cache: forgets the paths that led through
 * them. */
void paths_keep_up(struct paths *paths);

/* Memory that lives until all paths and memos are forgotten; never NULL, whatever the size. */
void *paths_allocate(struct paths *paths, size_t size);

/* Fills block->stride; its kind is not STRIDE_UNKNOWN afterwards. */
void paths_learn_stride(struct paths *paths, struct block *block);

/* From now on the conditional jump behind `block` goes to `to` by block's step, if it can. */
void paths_learn_step(struct paths *paths, struct block *block, bool taken, const struct block *to);

#endif
