/* What packets did when they came before: the decoder's shortest way.
 *
 * Programs do the same again and again, and then their packets are the same. A memo holds all that
 * the next few TNT and TIP packets do: the flow events that happen, the calls that are taken off
 * and put onto the return stack, the place that is reached. What packets do depends on their bits
 * and addresses, on the block where execution is, on the address that TIP packets are compressed
 * against, and on the calls that are returned from; these are the key. So decoding costs a lookup
 * for some packets where a program repeats itself.
 *
 * Where no cycles are counted, the packets' bytes are the key as they are (plain). Where they are,
 * CYC packets stand between them that are others each time (counted): they are taken out of the
 * key, but for where they stand.
 *
 * A table has room for a fixed number of memos; a key has one slot. Where most lookups are in vain,
 * nobody looks for a while, longer each time. One table per process and decoder, in its paths
 * (tnt_cache.h); used by packet_cache_lookup.c, and by packet_cache_learning.c, which does what the packets say.
 */
#ifndef MAGIC_TRACE_DECODE_PT_FAST_PACKET_CACHE_H
#define MAGIC_TRACE_DECODE_PT_FAST_PACKET_CACHE_H

#include "base/arena.h"
#include "decode/flow_event.h"
#include "decode/pt/blocks/return_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MEMO_WORDS = 6,
    MEMO_PLAIN_WORDS = 3,
    MEMO_BYTES = 8 * MEMO_PLAIN_WORDS, /* of plain packets, at most */
    MEMO_COUNTED_PACKETS = MEMO_WORDS, /* at most */
    MEMO_EVENTS = 400, /* at most: a bit has two at the most, and a TIP packet three */
    MEMO_POPS = 8,     /* calls taken off that were there before, at most */
};

struct memo_key {
    /* Plain: the bytes of the packets, perhaps with others' behind them. Counted: a word for each
     * packet, whether it has a CYC packet in front of it is in it. */
    uint64_t words[MEMO_WORDS];
    uint64_t block;   /* id of the block that runs next, the epoch of these ids, MEMO_COUNTED */
    uint64_t last_ip; /* what TIP packets may take over of the last one's address */
    uint64_t newest;  /* return address of the newest call; 0: there is none */
};

#define MEMO_COUNTED (UINT64_C(1) << 31) /* in a key's `block` */

/* In two cache lines. */
struct memo {
    struct memo_key key;
    /* `time`: instructions executed until then. Behind them lie the calls, struct return_place:
     * pop_count that are taken off, newest first; then push_count that are put on, oldest first. */
    const struct flow_event *events;
    uint64_t last_ip;      /* of packets, afterwards */
    uint32_t next;         /* id of the block that is reached */
    uint32_t last_id;      /* of the block whose stride ran last */
    uint32_t instructions; /* in all */
    uint32_t candidate;    /* private: hash of the key that was looked for in vain */
    /* Counted: instructions up to the end of each packet; and which are TIP packets, as bits. */
    uint16_t ends[MEMO_COUNTED_PACKETS];
    uint8_t tips;
    uint8_t missed; /* private: how often `candidate` was, in a row */
    uint8_t size;   /* plain: bytes */
    uint8_t packets;
    uint16_t event_count;
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

enum { MEMO_SLOTS_LOG = 13, NO_POPS = INT8_MIN };

void memos_init(struct memos *memos);
void memos_free(struct memos *memos);

static inline const struct return_place *memo_places(const struct memo *memo)
{
    return (const struct return_place *)(memo->events + memo->event_count);
}

/* Its parts do not wait for each other: it is between the decoder and everything it does next. The
 * other words of the key are 0. */
static inline uint64_t memo_hash(const struct memo_key *key, unsigned words)
{
    uint64_t first = (key->words[0] ^ key->block << 24) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t second = (key->words[1] ^ key->newest) * UINT64_C(0xff51afd7ed558ccd);
    uint64_t third = (key->words[2] ^ key->last_ip) * UINT64_C(0xc4ceb9fe1a85ec53);
    uint64_t hash = (first ^ first >> 32) + (second ^ second >> 29) + (third ^ third >> 31);
    if (words > MEMO_PLAIN_WORDS) {
        uint64_t fourth = (key->words[3] + first) * UINT64_C(0xbf58476d1ce4e5b9);
        uint64_t fifth = (key->words[4] + second) * UINT64_C(0x94d049bb133111eb);
        uint64_t sixth = (key->words[5] + third) * UINT64_C(0x2545f4914f6cdd1d);
        hash += (fourth ^ fourth >> 30) + (fifth ^ fifth >> 27) + (sixth ^ sixth >> 33);
    }
    return hash * UINT64_C(0xd6e8feb86659fd93);
}

static inline struct memo *memos_slot(const struct memos *memos, uint64_t hash)
{
    return &memos->slots[hash >> (64 - MEMO_SLOTS_LOG)];
}

static inline bool memo_is_of(const struct memo *memo, const struct memo_key *key, unsigned words)
{
    const struct memo_key *of = &memo->key;
    uint64_t other = (of->words[0] ^ key->words[0]) | (of->words[1] ^ key->words[1]) |
                     (of->words[2] ^ key->words[2]) | (of->block ^ key->block) |
                     (of->last_ip ^ key->last_ip) | (of->newest ^ key->newest);
    if (words > MEMO_PLAIN_WORDS)
        other |= (of->words[3] ^ key->words[3]) | (of->words[4] ^ key->words[4]) |
                 (of->words[5] ^ key->words[5]);
    return !other;
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
