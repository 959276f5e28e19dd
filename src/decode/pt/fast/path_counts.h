/* How often the fast path ran each superblock, and where the branch at its end went.
 *
 * In place of single steps: what a superblock holds (tnt_cache.h) is the same whenever it runs. So
 * one count for each superblock and outcome is enough, and is unfolded into blocks and branches once,
 * when the blocks are dropped or the decoder ends: flow_observer.repeated (flow_step.h) gets them.
 *
 * Likewise when it changes whether the observer wants what runs (flow_observer.counts).
 *
 * Counted in by counted_packets.c; one object per process and decoder, in its TNT cache.
 */
#ifndef MAGIC_TRACE_DECODE_PT_FAST_PATH_COUNTS_H
#define MAGIC_TRACE_DECODE_PT_FAST_PATH_COUNTS_H

#include "decode/flow_step.h"
#include "decode/pt/blocks/block_cache.h"

/* The superblock of one block. */
struct path_count {
    /* Of a conditional jump: not taken, and taken. Of another branch: the first two targets. */
    uint64_t count[2];
    uint32_t to[2]; /* ids of blocks; 0: not known yet */
    uint32_t instructions;
    uint8_t kind;       /* as in struct superblock; BRANCH_NONE: not determined yet */
    uint8_t push_count; /* as in struct superblock */
};

/* How often the branch at the end of a superblock went to a block that is none of the first two. */
struct other_count {
    uint32_t from, to; /* ids of blocks; from 0: the slot is free */
    uint64_t count;
};

struct path_counts {
    const struct flow_observer *observer; /* borrowed */
    struct block_cache *cache;            /* borrowed */
    struct array paths;                   /* struct path_count, by id of the block */
    struct other_count *others;           /* open addressing; owned */
    size_t capacity, count;               /* of `others` */
    bool wanted;                          /* what is counted; else it is dropped */
    struct ticks until;                   /* from then on the observer has not been asked */
};

/* The cache reports drops to it from now on. */
struct path_counts *path_counts_open(const struct flow_observer *observer,
                                     struct block_cache *cache);
/* Reports all counts, and frees. */
void path_counts_close(struct path_counts *counts);

/* What is counted from now on is of this thread, from `time` up to before counts->until. */
void path_counts_begin(struct path_counts *counts, const struct thread *thread, struct ticks time);

/* Private: makes space for the blocks that the cache has. */
void path_counts_grow(struct path_counts *counts);
/* Private: for a target that is not one of path.to. */
void path_counts_other(struct path_counts *counts, uint32_t from, uint32_t to);

/* Of the superblock of the block of this id. Valid until a block is added. */
static inline struct path_count *path_counts_at(struct path_counts *counts, uint32_t id)
{
    if (__builtin_expect(id >= counts->paths.count, 0))
        path_counts_grow(counts);
    return (struct path_count *)counts->paths.elements + id;
}

/* The branch at the end of the superblock of block `from`, which is not conditional, went to block
 * `to`. */
static inline void path_counts_target(struct path_counts *counts, uint32_t from, uint32_t to)
{
    struct path_count *path = path_counts_at(counts, from);
    unsigned which = path->to[0] != to && path->to[0] != 0;
    if (path->to[which] == 0)
        path->to[which] = to;
    if (path->to[which] == to)
        path->count[which]++;
    else
        path_counts_other(counts, from, to);
}

#endif
