/* The basic blocks of one process's code: each is read and understood once, however often it runs.
 *
 * A block goes from one address to the next branch. Blocks are dropped when the memory below them
 * changes; all others stay. Used by block_walk.c and path.c; each decoder has its own.
 */
#ifndef MAGIC_TRACE_FLOW_BLOCK_CACHE_H
#define MAGIC_TRACE_FLOW_BLOCK_CACHE_H

#include "base/arena.h"
#include "flow/branch.h"
#include "flow/code_space.h"

/* Why a block goes no further. */
enum block_end {
    BLOCK_ENDS_HERE,     /* at a branch, or because it is long enough (its kind is BRANCH_NONE) */
    BLOCK_WITHOUT_IMAGE, /* no known file has the next instruction */
    BLOCK_OF_NO_CODE,    /* the next bytes are no instruction */
};

struct path;

struct block {
    uint64_t ip;                   /* of the first instruction */
    uint64_t last;                 /* of the last instruction */
    uint64_t next;                 /* behind the last instruction */
    uint64_t target;               /* of a direct branch */
    struct function_bounds bounds; /* of what is at `ip` */
    uint32_t id;                   /* dense, from 0; of one epoch */
    uint32_t instructions;         /* 0: not even the first could be read */
    uint8_t kind;                  /* of the last instruction, enum branch_kind */
    uint8_t end;                   /* enum block_end */
    uint8_t mode;                  /* enum x86_mode */
    bool direct;                   /* the branch is a jump or call whose target is in its bytes */
    bool reads_own_address;        /* as in struct branch */
    bool is_ptwrite;               /* the last instruction is one */
    /* Of path.c: what runs from here on without a packet, where the branch at its end went last. */
    struct path *tail;
    uint64_t tail_epoch;
    struct block *indirect;
};

struct block_cache {
    struct code_space space;
    struct block **blocks; /* by address and mode, open addressing; NULL: empty. Owned */
    size_t capacity, count;
    uint64_t *pages; /* numbers (plus 1) of the pages that blocks lie on, in the same way. Owned */
    size_t page_capacity, page_count;
    uint64_t epoch;      /* counts how often blocks were dropped */
    struct arena memory; /* of the blocks */
};

void block_cache_init(struct block_cache *cache, const struct process *process,
                      struct symbols *symbols);
void block_cache_free(struct block_cache *cache);

/* The block at `ip`; there always is one, perhaps without instructions. Valid until the epoch
 * changes: by block_cache_advance or block_cache_trim. */
struct block *block_cache_find(struct block_cache *cache, uint64_t ip, enum x86_mode mode);

/* Applies the process's changes, the first `count` of them, and drops the blocks below which memory
 * has changed; in fact all blocks, when there are such. */
void block_cache_advance(struct block_cache *cache, size_t count);

/* Drops all blocks when there are too many; so hostile data cannot fill the memory. */
void block_cache_trim(struct block_cache *cache);

#endif
