/* Paths: what a program does from one block on when it takes given branches, found out once.
 *
 * The key is a block and the next TNT bits; the value is the block that is reached, the flow events
 * that happen on the way and the calls that are left on the return stack. So decoding costs a
 * lookup per packet, not work per branch. A path is learnt by walking it (block_walk.h).
 *
 * A path of no bits, a block's tail, goes up to and including the next branch that needs a packet.
 *
 * Used by the decoder, which has one set of paths per process, together with its block cache.
 */
#ifndef MAGIC_TRACE_FLOW_PATH_H
#define MAGIC_TRACE_FLOW_PATH_H

#include "flow/block_walk.h"

enum {
    PATH_BITS = 8, /* at most, in one path */
};

/* What is left to be done at the end of a path. */
enum path_end {
    PATH_AT_BLOCK,  /* nothing: `next` runs next */
    PATH_AT_RETURN, /* a return at last_ip, by a bit, for which the path itself has no call */
    PATH_AT_BRANCH, /* of a tail: `next` has run, its branch needs a packet. Else: the same, but
                       there are bits left */
    PATH_FAILED,    /* see `error`, noticed at `next` */
};

struct path {
    uint64_t key; /* private */
    uint64_t epoch;
    struct block *next;
    const struct flow_event *events;   /* `time`: instructions of the path executed until then */
    const struct return_place *pushes; /* in the order of their calls */
    uint64_t last_ip;                  /* of the newest instruction */
    function_id function;              /* that holds last_ip */
    uint32_t instructions;
    uint16_t event_count, push_count;
    uint8_t bits;  /* that it uses */
    uint8_t end;   /* enum path_end */
    uint8_t error; /* enum decode_error */
    uint8_t flags; /* enum flow_flag: of the branch at its end */
};

struct paths {
    struct block_cache cache;
    struct path *slots; /* by key, open addressing; stale where the epoch is older. Owned */
    size_t capacity, count;
    struct arena memory;  /* of tails, events and pushes */
    size_t memory_used;   /* bytes */
    uint64_t epoch;       /* counts how often all paths were forgotten */
    uint64_t cache_epoch; /* of the cache, when they were */
    struct control_flow learning;
    struct return_stack calls;
};

void paths_init(struct paths *paths, const struct process *process, struct symbols *symbols);
void paths_free(struct paths *paths);

/* Finds or learns the path from `block` on that takes the branches `marked_bits`: at most
 * PATH_BITS, oldest first, under a leading 1. Valid until the next call. */
const struct path *paths_find(struct paths *paths, struct block *block, uint32_t marked_bits);

/* Valid until the epoch of the cache changes. */
const struct path *paths_tail(struct paths *paths, struct block *block);

#endif
