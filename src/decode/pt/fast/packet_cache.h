/* The packet-sequence cache: what sequences of packets did before.
 *
 * Programs repeat themselves, and then their packets are the same. An entry holds all that the next
 * few TNT and TIP packets do: the flow events, the calls that are popped from and pushed onto the
 * return stack, and the block that is reached. What packets do depends on their bits and addresses,
 * on the block where execution is, on the address that TIP packets are compressed against, and on
 * the calls that are returned from; these are the key. So decoding costs one lookup for several
 * packets where a program repeats itself.
 *
 * In recordings without CYC packets the key has the packets' bytes as they are (plain). With them,
 * different CYC packets stand between the others each time (counted): the key has only their
 * positions.
 *
 * The table has a fixed number of entries; each key has one slot. Where most lookups miss, none are
 * made for a while, which grows each time. One table per process and decoder, in its TNT cache
 * (tnt_cache.h); used by packet_cache_lookup.c, and by packet_cache_learning.c, which does what the
 * packets say.
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
    SEQUENCE_WORDS = 6,
    SEQUENCE_PLAIN_WORDS = 3,
    SEQUENCE_BYTES = 8 * SEQUENCE_PLAIN_WORDS, /* of plain packets, at most */
    SEQUENCE_COUNTED_PACKETS = SEQUENCE_WORDS, /* at most */
    SEQUENCE_EVENTS = 400,                     /* at most; most bits have one or two */
    SEQUENCE_POPS = 8,                         /* at most: calls popped that were there before */
};

struct packet_sequence_key {
    /* Plain: the bytes of the packets, perhaps followed by others. Counted: a word for each packet,
     * which also says whether a CYC packet is before it. */
    uint64_t words[SEQUENCE_WORDS];
    uint64_t block;   /* id of the block that runs next, the epoch of these ids, SEQUENCE_COUNTED */
    uint64_t last_ip; /* the part of the last address that TIP packets may reuse */
    uint64_t newest;  /* return address of the newest call; 0: none */
};

#define SEQUENCE_COUNTED (UINT64_C(1) << 31) /* in a key's `block` */

/* In two cache lines. */
struct packet_sequence {
    struct packet_sequence_key key;
    /* `time`: instructions executed before the event. After the events come the calls, struct
     * return_place: pop_count that are popped, newest first; then push_count that are pushed,
     * oldest first. */
    const struct flow_event *events;
    uint64_t last_ip;      /* of TIP packets, afterwards */
    uint32_t next;         /* id of the block that is reached */
    uint32_t last_id;      /* of the block whose superblock ran last */
    uint32_t instructions; /* in total */
    uint32_t candidate;    /* private: hash of the key that was last missed */
    /* Counted: instructions up to the end of each packet; and a bit for each packet that is a TIP.
     */
    uint16_t ends[SEQUENCE_COUNTED_PACKETS];
    uint8_t tips;
    uint8_t missed; /* private: how often `candidate` was missed in a row */
    uint8_t size;   /* plain: bytes */
    uint8_t packets;
    uint16_t event_count;
    uint8_t pop_count, push_count;
    bool needs_last;  /* no more calls may be on the return stack than are popped: a return found
                       * it empty */
    int8_t pops_from; /* a call was popped when there were this many more than at first */
} __attribute__((aligned(64)));

struct packet_cache {
    struct packet_sequence *slots;
    void *memory; /* owned; of the slots */
    unsigned hits, misses;
    unsigned rest, next_rest; /* packets until the next lookup; those of the next pause */
};

enum { PACKET_CACHE_SLOTS_LOG = 13, NO_POPS = INT8_MIN };

void packet_cache_init(struct packet_cache *packet_cache);
void packet_cache_free(struct packet_cache *packet_cache);

static inline const struct return_place *
packet_sequence_places(const struct packet_sequence *sequence)
{
    return (const struct return_place *)(sequence->events + sequence->event_count);
}

/* Its parts are computed in parallel: the decoder can do nothing else before it has the hash. The
 * other words of the key are 0. */
static inline uint64_t packet_sequence_hash(const struct packet_sequence_key *key, unsigned words)
{
    uint64_t first = (key->words[0] ^ key->block << 24) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t second = (key->words[1] ^ key->newest) * UINT64_C(0xff51afd7ed558ccd);
    uint64_t third = (key->words[2] ^ key->last_ip) * UINT64_C(0xc4ceb9fe1a85ec53);
    uint64_t hash = (first ^ first >> 32) + (second ^ second >> 29) + (third ^ third >> 31);
    if (words > SEQUENCE_PLAIN_WORDS) {
        uint64_t fourth = (key->words[3] + first) * UINT64_C(0xbf58476d1ce4e5b9);
        uint64_t fifth = (key->words[4] + second) * UINT64_C(0x94d049bb133111eb);
        uint64_t sixth = (key->words[5] + third) * UINT64_C(0x2545f4914f6cdd1d);
        hash += (fourth ^ fourth >> 30) + (fifth ^ fifth >> 27) + (sixth ^ sixth >> 33);
    }
    return hash * UINT64_C(0xd6e8feb86659fd93);
}

static inline struct packet_sequence *packet_cache_slot(const struct packet_cache *packet_cache,
                                                        uint64_t hash)
{
    return &packet_cache->slots[hash >> (64 - PACKET_CACHE_SLOTS_LOG)];
}

static inline bool packet_sequence_is_of(const struct packet_sequence *sequence,
                                         const struct packet_sequence_key *key, unsigned words)
{
    const struct packet_sequence_key *of = &sequence->key;
    uint64_t other = (of->words[0] ^ key->words[0]) | (of->words[1] ^ key->words[1]) |
                     (of->words[2] ^ key->words[2]) | (of->block ^ key->block) |
                     (of->last_ip ^ key->last_ip) | (of->newest ^ key->newest);
    if (words > SEQUENCE_PLAIN_WORDS)
        other |= (of->words[3] ^ key->words[3]) | (of->words[4] ^ key->words[4]) |
                 (of->words[5] ^ key->words[5]);
    return !other;
}

/* Whether to skip the lookup for the next packet. */
static inline bool packet_cache_rest(struct packet_cache *packet_cache)
{
    if (!packet_cache->rest)
        return false;
    packet_cache->rest--;
    return true;
}

/* The slot does not have the key with this hash. True: it pays to learn an entry for it. */
bool packet_cache_miss(struct packet_cache *packet_cache, struct packet_sequence *slot,
                       uint64_t hash);

#endif
