/* Where blocks of code end and how: decoded by the first worker that needs them, shared with all.
 *
 * Each decoding thread has its own blocks (block_cache.h); decoding their instructions is most of
 * the cost of learning them. This table holds facts about bytes alone; the block cache knows which
 * bytes are at an address at a time. 64-bit code, within one mapping of one file.
 *
 * Used by block_cache.c, from any thread. A lookup takes no lock: an entry does not change once its
 * key is set.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_SHARED_BLOCKS_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_SHARED_BLOCKS_H

#include "decode/pt/blocks/block_cache.h"

#include <pthread.h>
#include <stdatomic.h>

struct shared_block {
    _Atomic(const uint8_t *) bytes; /* the key; NULL: the entry is free */
    int64_t target;                 /* relative to the first byte */
    uint16_t length, last;          /* bytes; offset of the last instruction */
    uint16_t instructions;
    uint8_t kind; /* as in struct block */
    bool direct : 1, has_target : 1, reads_own_address : 1, is_ptwrite : 1;
};

struct shared_blocks {
    struct shared_block *entries; /* by key, open addressing. Owned */
    pthread_mutex_t lock;         /* held to add entries */
    size_t count;
};

void shared_blocks_init(struct shared_blocks *shared);
void shared_blocks_free(struct shared_blocks *shared);

/* If the code at `bytes`, of which `size` are known, has been decoded before, fills in the block,
 * whose `ip` is set; else returns false. The bytes stay valid as long as `shared` does. */
bool shared_blocks_find(const struct shared_blocks *shared, const uint8_t *bytes, size_t size,
                        struct block *block);

/* Adds the block at `bytes`. Does nothing if the table is full. */
void shared_blocks_add(struct shared_blocks *shared, const uint8_t *bytes,
                       const struct block *block);

#endif
