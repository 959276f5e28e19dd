/* What packets did when they came before: the decoder's shortest way.
 *
 * Programs do the same again and again, and then their packets are the same, byte for byte. A memo
 * holds all that the next few TNT and TIP packets do: the flow events that happen, the calls that
 * are taken off and put onto the return stack, the place that is reached. What packets do depends
 * on their bytes, on the block where execution is, on the address that TIP packets are compressed
 * against, and on the calls that are returned from; these are the key. So decoding costs a lookup
 * for some packets where a program repeats itself.
 *
 * A table has room for a fixed number of memos; a key has one slot. Where most lookups are in vain,
 * nobody looks for a while, longer each time. One table per process and decoder, in its paths
 * (path.h); used by usual_packets.c, which also learns the memos: by doing what the packets say.
 */
#ifndef MAGIC_TRACE_FLOW_MEMO_H
#define MAGIC_TRACE_FLOW_MEMO_H

#include "base/arena.h"
#include "flow/flow_event.h"
#include "flow/return_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MEMO_WORDS = 3,
    MEMO_BYTES = 8 * MEMO_WORDS, /* of packets, at most */
    MEMO_EVENTS = 400,           /* at most: a bit has two at the most, and a TIP packet three */
    MEMO_POPS = 8,               /* calls taken off that were there before, at most */
};

struct memo_key {
    uint64_t bytes[MEMO_WORDS]; /* of the packets, perhaps with others' behind them */
    uint64_t block;             /* id of the block that runs next, and the epoch of these ids */
    uint64_t last_ip;           /* what TIP packets may take over of the last one's address */
    uint64_t newest;            /* return address of the newest call; 0: there is none */
};

/* In two cache lines. */
struct memo {
    struct memo_key key;
    const struct flow_event *events;   /* `time`: instructions executed until then */
    const struct return_place *places; /* pop_count that are taken off, newest first; then
                                          push_count that are put on, oldest first */
    uint64_t last_ip;                  /* of packets, afterwards */
    uint64_t last_executed;            /* address of the newest instruction */
    uint32_t next;                     /* id of the block that is reached */
    uint32_t instructions;
    uint32_t candidate; /* private: hash of the key that was looked for in vain */
    uint16_t event_count;
    uint8_t missed; /* private: how often `candidate` was, in a row */
    uint8_t size;   /* bytes */
    uint8_t packets;
    uint8_t pop_count, push_count;
    bool needs_last;  /* there must be no more calls than are taken off: a return found none */
    int8_t pops_from; /* a call has been taken off when there were so many more than at first */
} __attribute__((aligned(64)));

struct memos {
    struct memo *slots;
    void *memory; /* owned; of the slots */
    unsigned hits, misses;
    unsigned rest, next_rest; /* packets before which nobody is to look; those of the next time */
};

enum { MEMO_SLOTS_LOG = 12, NO_POPS = INT8_MIN };

void memos_init(struct memos *memos);
void memos_free(struct memos *memos);

/* Its parts do not wait for each other: it is between the decoder and everything it does next. */
static inline uint64_t memo_hash(const struct memo_key *key)
{
    uint64_t first = (key->bytes[0] ^ key->block << 24) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t second = (key->bytes[1] ^ key->newest) * UINT64_C(0xff51afd7ed558ccd);
    uint64_t third = (key->bytes[2] ^ key->last_ip) * UINT64_C(0xc4ceb9fe1a85ec53);
    uint64_t hash = (first ^ first >> 32) + (second ^ second >> 29) + (third ^ third >> 31);
    return hash * UINT64_C(0xd6e8feb86659fd93);
}

static inline struct memo *memos_slot(const struct memos *memos, uint64_t hash)
{
    return &memos->slots[hash >> (64 - MEMO_SLOTS_LOG)];
}

static inline bool memo_is_of(const struct memo *memo, const struct memo_key *key)
{
    const struct memo_key *of = &memo->key;
    return !((of->bytes[0] ^ key->bytes[0]) | (of->bytes[1] ^ key->bytes[1]) |
             (of->bytes[2] ^ key->bytes[2]) | (of->block ^ key->block) |
             (of->last_ip ^ key->last_ip) | (of->newest ^ key->newest));
}

/* Whether the lookup before the next packet is better left out. */
static inline bool memos_rest(struct memos *memos)
{
    if (!memos->rest)
        return false;
    memos->rest--;
    return true;
}

/* The slot is not of the key with this hash. True: it is worth while to put its memo there. */
bool memos_miss(struct memos *memos, struct memo *slot, uint64_t hash);

#endif
