/* How far blocks of code go and how they end: read by whichever worker meets them first, known to
 * all.
 *
 * Each decoding thread has its own blocks (block_cache.h); reading their instructions is most of
 * what learning them costs. Here are facts about bytes alone: which bytes are at an address at a
 * time, the block cache knows. 64-bit code, from one mapping of one file.
 *
 * Used by block_cache.c, from any thread. A lookup takes no lock: an entry does not change once its
 * key is there.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_SHARED_BLOCKS_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_SHARED_BLOCKS_H

#include "decode/pt/blocks/block_cache.h"

#include <pthread.h>
#include <stdatomic.h>

struct shared_block {
    _Atomic(const uint8_t *) bytes; /* the key; NULL: the entry is free */
    int64_t target;                 /* from the first byte on */
    uint16_t length, last;          /* bytes; where the last instruction begins */
    uint16_t instructions;
    uint8_t kind; /* as in struct block */
    bool direct : 1, has_target : 1, reads_own_address : 1, is_ptwrite : 1;
};

struct shared_blocks {
    struct shared_block *entries; /* by key, open addressing. Owned */
    pthread_mutex_t lock;         /* of those who add */
    size_t count;
};

void shared_blocks_init(struct shared_blocks *shared);
void shared_blocks_free(struct shared_blocks *shared);

/* Fills in the block, whose `ip` is set, if the code at `bytes`, of which `size` are known, has
 * been read before; else returns false. The bytes stay valid as long as `shared` does. */
bool shared_blocks_find(const struct shared_blocks *shared, const uint8_t *bytes, size_t size,
                        struct block *block);

/* What has been read of the block at `bytes`. Does nothing when there are too many. */
void shared_blocks_add(struct shared_blocks *shared, const uint8_t *bytes,
                       const struct block *block);

#endif
