/* The basic blocks of one process's code: each is decoded once, however often it runs.
 *
 * A block goes from one address to the next branch. Blocks are dropped when the memory that they
 * are in changes. Used by block_walk.c and tnt_cache.c; each decoder has its own.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_BLOCK_CACHE_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_BLOCK_CACHE_H

#include "base/arena.h"
#include "base/array.h"
#include "decode/flow_event.h"
#include "decode/pt/blocks/branch.h"
#include "decode/pt/blocks/code_space.h"
#include "decode/pt/blocks/return_stack.h"

/* Why a block ends. */
enum block_end {
    BLOCK_ENDS_HERE,     /* at a branch, or because it is long enough (its kind is BRANCH_NONE) */
    BLOCK_WITHOUT_IMAGE, /* no known file has the next instruction */
    BLOCK_OF_NO_CODE,    /* the next bytes are not an instruction */
};

/* What runs from a block on until a packet is needed: the block itself and those that it leads to
 * by direct jumps and calls, up to and including the branch that needs a packet. Filled by
 * tnt_cache.c. */
struct superblock {
    struct block *branch;              /* the last block; it ends in that branch */
    uint64_t last_ip;                  /* of the branch */
    const struct flow_event *events;   /* `time`: instructions executed before the event */
    const struct return_place *pushes; /* calls on the way, oldest first */
    uint32_t instructions;
    function_id branch_function; /* that contains the branch */
    inlined_id branch_inlined;   /* likewise, inside of that */
    uint8_t event_count, push_count;
    uint8_t kind;  /* of the branch: enum branch_kind, or SUPERBLOCK_UNKNOWN, SUPERBLOCK_HARD */
    uint8_t flags; /* of the branch's event, enum flow_flag */
};

enum {
    SUPERBLOCK_UNKNOWN = 0x40, /* not determined yet */
    SUPERBLOCK_HARD = 0x41, /* must be walked block by block: it ends in an error or is too long */
};

/* In the order of use, each part in a cache line: fields used when control arrives, fields used
 * when it leaves, the rest. */
struct block {
    uint64_t ip;                   /* of the first instruction */
    struct function_bounds bounds; /* of the code at `ip` */
    uint32_t id;                   /* dense, from 1; of one epoch */
    uint32_t instructions;         /* 0: not even the first one could be read */
    uint8_t kind;                  /* of the last instruction, enum branch_kind */
    uint8_t end;                   /* enum block_end */
    uint8_t mode;                  /* enum x86_mode */
    bool direct;                   /* the branch is a jump or call whose target is in its bytes */
    bool reads_own_address;        /* as in struct branch */
    bool is_ptwrite;               /* the last instruction is a PTWRITE */
    bool
        copies_stack; /* after the last instruction, the code copies another stack to where its own was */
    struct superblock superblock;
    uint64_t last;          /* of the last instruction */
    uint64_t next;          /* the address after the last instruction */
    uint64_t target;        /* of a direct branch */
    inlined_id inlined;     /* at `ip` */
    bool announces_inlined; /* inlined_place_is_announced */
};

/* The superblock and the branch of a block, if at most EDGE_EVENTS events and one call are on the
 * way. So small that the edges of most programs stay in the processor's cache.
 */
struct edge {
    /* Of a conditional jump: ids of blocks, not taken and taken, with EDGE_MANY and EDGE_JUMP_EVENT
     * where they hold; 0: not known, or the superblock does not fit an edge. Of other branches [0]
     * is EDGE_INDIRECT, or [1] EDGE_RETURNS. So what most of them need is one test, for positive. */
    int32_t to[2];
    uint32_t effect; /* index of the first on the way; 0: no effects */
    uint16_t instructions;
    uint8_t event_count; /* on the way */
    uint8_t push_count;  /* calls on the way, 0 or 1; an indirect call is one, too */
};

enum {
    EDGE_INDIRECT = -2,
    EDGE_RETURNS = -1,
    EDGE_MANY = INT32_MIN,     /* more than one event, or one of the conditional jump itself */
    EDGE_JUMP_EVENT = 1 << 30, /* the conditional jump itself makes an event */
    EDGE_EVENTS = 6,
};

/* The effects of what is on the way, in a row, and before them the branch's own. Of a conditional
 * jump: the call is in the first one on the way, and its own are two (edge_own_effect), if it makes
 * an event. Of another branch: its own has the event without the target, and the call; `function`
 * of the event is the one that a jump leaves, EDGE_ANY_FUNCTION if the event is due wherever the
 * branch leads. */
#define EDGE_ANY_FUNCTION UINT32_MAX
struct edge_effect {
    struct flow_event event;
    struct return_place push;
};

/* Holds what an indirect branch to the block needs, so that the block itself is not read. */
struct block_slot {
    uint64_t ip;
    uint32_t id : 29;     /* 0: the slot is empty */
    uint32_t inlined : 1; /* block.bounds.inlined */
    uint32_t mode : 2;    /* enum x86_mode */
    function_id function; /* block.bounds.function */
};

struct block_cache {
    struct code_space space;
    struct block_slot *slots; /* by address and mode, open addressing. Owned */
    size_t capacity, count;
    /* By id; [0] is none. Grow, and so move, when blocks are added. */
    struct array by_id;   /* struct block * */
    struct array edges;   /* struct edge */
    struct array effects; /* struct edge_effect */
    uint64_t *pages; /* numbers (plus 1) of the pages that hold blocks, open addressing. Owned */
    size_t page_capacity, page_count;
    uint64_t epoch; /* counts how often blocks were dropped */
    /* Called before blocks are dropped, while `space` is still that of their code. NULL: not called. */
    void (*before_drop)(void *context);
    void *drop_context;  /* borrowed */
    struct arena memory; /* of the blocks */
};

void block_cache_init(struct block_cache *cache, const struct process *process,
                      struct symbols *symbols);
void block_cache_free(struct block_cache *cache);

static inline size_t block_hash(uint64_t ip)
{
    return (size_t)((ip * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* The slot of the block at `ip`, or an empty one if it has not been looked up yet. Valid until a
 * block is added. */
static inline struct block_slot *block_cache_slot(const struct block_cache *cache, uint64_t ip,
                                                  enum x86_mode mode)
{
    size_t slot = block_hash(ip) & (cache->capacity - 1);
    while (cache->slots[slot].id &&
           (cache->slots[slot].ip != ip || cache->slots[slot].mode != mode))
        slot = (slot + 1) & (cache->capacity - 1);
    return &cache->slots[slot];
}

/* The block at `ip`; there always is one, perhaps without instructions. Valid until the epoch
 * changes: by block_cache_advance or block_cache_trim. */
struct block *block_cache_find(struct block_cache *cache, uint64_t ip, enum x86_mode mode);

static inline struct block *block_of_id(const struct block_cache *cache, uint32_t id)
{
    return ((struct block **)cache->by_id.elements)[id];
}

static inline struct edge *edge_of(const struct block_cache *cache, uint32_t id)
{
    return (struct edge *)cache->edges.elements + id;
}

static inline const struct edge_effect *edge_effect_of(const struct block_cache *cache,
                                                       const struct edge *edge)
{
    return (const struct edge_effect *)cache->effects.elements + edge->effect;
}

/* The branch's own effect; `taken`: of a conditional jump, otherwise 0. `way`: edge_effect_of. */
static inline const struct edge_effect *edge_own_effect(const struct edge_effect *way,
                                                        unsigned taken)
{
    return way - 1 - taken;
}

/* Applies the first `count` of the process's changes. If one of them changes memory that holds
 * blocks, drops all blocks. */
void block_cache_advance(struct block_cache *cache, size_t count);

/* If changes have been applied that are later than `time`: starts again without any. */
void block_cache_rewind(struct block_cache *cache, struct ticks time);

/* Drops all blocks if there are too many, so that hostile data cannot fill the memory. */
void block_cache_trim(struct block_cache *cache);

#endif
