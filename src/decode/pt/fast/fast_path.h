/* The common part of the fast path: how superblocks and edges (tnt_cache.h, block_cache.h) are
 * taken. Private to fast_tnt.c, fast_packets.c, counted_packets.c and packet_cache_learning.c.
 *
 * The fast path is taken while decoder->plain: the address is known, and the next packet depends on
 * no other state. Between fast_path_enter and fast_path_leave the address is that of block at_id. A
 * function that cannot handle a packet changes nothing and says so.
 */
#ifndef MAGIC_TRACE_DECODE_PT_FAST_FAST_PATH_H
#define MAGIC_TRACE_DECODE_PT_FAST_FAST_PATH_H

#include "decode/pt/decoder_state.h"
#include "packet/packet.h"

#include <string.h>

/* The result for the packet at decoder->next. */
enum way {
    WAY_ON,   /* it was taken */
    WAY_STOP, /* it is left to the slow path; or it was taken, and now something else is due */
    WAY_LEFT, /* the slow path has taken it, and the fast path has been left */
};

/* ---- fast_tnt.c ---- */

/* Takes `count` bits, at least one, oldest first, of which the lowest is bit 0 of `bits`. False:
 * the fast path could not take all; the slow path has taken the rest, and the fast path has been
 * left. */
bool fast_tnt(struct decoder *decoder, uint64_t bits, unsigned count);

/* As fast_tnt, one bit after the other. fast_tnt_bit takes one; false: the fast path cannot take
 * it, and nothing has changed. Then fast_tnt_give_up takes it and the rest, `left` bits, by the
 * slow path; otherwise the caller calls fast_tnt_report after the last bit. */
bool fast_tnt_bit(struct decoder *decoder, uint64_t bit);
void fast_tnt_give_up(struct decoder *decoder, uint64_t bits, unsigned left);

/* ---- fast_packets.c ---- */

/* Takes the TIP packet at decoder->next, except for its time. */
enum way fast_tip(struct decoder *decoder);

/* Takes the CYC packet at decoder->next. WAY_STOP: it is a rare form and was not taken; or the
 * deadline is reached. */
enum way fast_cyc(struct decoder *decoder);

/* ---- packet_cache_lookup.c ---- */

/* Takes packets from decoder->next on by a cache entry, or learns an entry from them. WAY_STOP with
 * decoder->next unchanged: there is no entry, and nothing has changed. Must not be called after a
 * packet that gave the time. The first function is for recordings without CYC packets. */
enum way packet_sequence_of_plain(struct decoder *decoder, uint64_t *steps);
enum way packet_sequence_of_counted(struct decoder *decoder, uint64_t *steps);

/* ---- packet_cache_learning.c ---- */

/* Takes the packets from decoder->next up to `stop`, or as many as it can, and stores their effects
 * in the slot. Takes CYC packets before them only if the key is a counted one. Returns as the two
 * above. */
enum way packet_sequence_learn(struct decoder *decoder, struct packet_sequence *slot,
                               const struct packet_sequence_key *key, const uint8_t *stop);

/* ---- Places ---- */

static inline struct block_cache *cache_of(struct decoder *decoder)
{
    return &decoder->tnt_cache->cache;
}

static inline struct block *block_at(struct decoder *decoder, uint64_t ip)
{
    return block_cache_find(cache_of(decoder), ip, decoder->mode);
}

static inline void fast_path_enter(struct decoder *decoder)
{
    decoder->at_id = decoder->at->id;
    decoder->last_id = 0;
}

/* The address of the newest instruction. */
static inline uint64_t fast_path_last_executed(struct decoder *decoder)
{
    uint32_t id = decoder->last_id;
    return id ? block_of_id(cache_of(decoder), id)->superblock.last_ip : decoder->flow.last_ip;
}

static inline void fast_path_leave(struct decoder *decoder)
{
    decoder->at = block_of_id(cache_of(decoder), decoder->at_id);
    decoder->flow.last_ip = fast_path_last_executed(decoder);
    decoder->last_id = 0;
}

/* Bits have been taken: the time of the packet before is that of the last of them, until the next
 * packet gives a time. */
static inline void fast_tnt_report(struct decoder *decoder)
{
    decoder->holds_time |= decoder->time_is_news;
    decoder->time_is_news = false;
}

/* The packet before gave the time of the branch that was just taken. An event before that of the
 * branch, of a call on the way, has another position. */
static inline void mark_exact(struct decoder *decoder, size_t events_before)
{
    struct event_batch *batch = &decoder->flow.batch;
    size_t newest = batch->count - 1;
    if (batch->count > events_before && batch->events[newest].time.value == decoder->flow.position)
        batch->events[newest].flags |= FLOW_TIME_EXACT;
}

static inline void anchor_branch(struct decoder *decoder)
{
    event_batch_anchor(&decoder->flow.batch, decoder->flow.position, decoder->time.now);
    decoder->time_is_news = false;
}

/* ---- Superblocks and edges ---- */

static inline void push_all(struct decoder *decoder, const struct return_place *pushes,
                            unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        return_stack_push(&decoder->returns, pushes[i], 1);
}

static inline void run_superblock(struct decoder *decoder, const struct block *block)
{
    struct control_flow *flow = &decoder->flow;
    const struct superblock *superblock = &block->superblock;
    event_batch_add_relative(&flow->batch, superblock->events, superblock->event_count,
                             flow->position);
    flow->position += superblock->instructions;
    push_all(decoder, superblock->pushes, superblock->push_count);
    decoder->last_id = block->id;
}

/* The event of the branch at the end of the superblock; `time` is set by who adds it. */
static inline struct flow_event branch_event(const struct superblock *superblock,
                                             enum flow_kind kind, uint8_t flags, uint64_t next,
                                             const struct block *to)
{
    return (struct flow_event){.from = superblock->last_ip,
                               .to = to->ip,
                               .next = next,
                               .function = to->bounds.function,
                               .kind = (uint8_t)kind,
                               .flags = superblock->flags | flags};
}

static inline void add_event(struct decoder *decoder, const struct superblock *superblock,
                             enum flow_kind kind, uint64_t next, const struct block *to)
{
    struct flow_event event = branch_event(superblock, kind, 0, next, to);
    event_batch_add_relative(&decoder->flow.batch, &event, 1, decoder->flow.position);
}

/* Whether an event must say what is inlined at `to`, where the branch at the end of the superblock
 * leads inside its function. */
static inline bool changes_inlined(const struct superblock *superblock, const struct block *to)
{
    return superblock->branch_inlined != to->inlined && !to->announces_inlined;
}

static inline struct flow_event inlined_event(const struct superblock *superblock,
                                              const struct block *to)
{
    return (struct flow_event){.from = superblock->last_ip,
                               .to = to->ip,
                               .next = to->inlined,
                               .function = to->bounds.function,
                               .kind = FLOW_INLINED};
}

static inline void add_inlined(struct decoder *decoder, const struct superblock *superblock,
                               const struct block *to)
{
    struct flow_event event = inlined_event(superblock, to);
    event_batch_add_relative(&decoder->flow.batch, &event, 1, decoder->flow.position);
}

static inline struct flow_event *copy_effect(struct flow_event *added,
                                             const struct edge_effect *effect, uint64_t position)
{
    *added = effect->event;
    added->time.value += position;
    return added + 1;
}

/* Copies the events on the way, for which there is space. */
static inline struct flow_event *copy_way(struct flow_event *added, const struct edge *edge,
                                          const struct edge_effect *way, uint64_t position)
{
    for (unsigned i = 0; i < edge->event_count; i++)
        added = copy_effect(added, &way[i], position);
    return added;
}

/* Copies them and the event of the branch, which is not conditional: at the result, without its
 * target. Most have nothing on the way. */
static inline struct flow_event *copy_branch(struct flow_event *added, const struct edge *edge,
                                             const struct edge_effect *way, uint64_t position)
{
    if (__builtin_expect(edge->event_count, 0))
        added = copy_way(added, edge, way, position);
    copy_effect(added, edge_own_effect(way, 0), position);
    return added;
}

/* Takes the edge of a block that returns, to `place`. */
static inline void take_return_edge(struct decoder *decoder, const struct edge *edge,
                                    const struct return_place *place)
{
    struct control_flow *flow = &decoder->flow;
    event_batch_reserve(&flow->batch, EDGE_EVENTS + 1);
    struct flow_event *event = copy_branch(&flow->batch.events[flow->batch.count], edge,
                                           edge_effect_of(cache_of(decoder), edge), flow->position);
    event->to = place->address;
    event->function = place->function;
    flow->batch.count = (size_t)(event + 1 - flow->batch.events);
    flow->position += edge->instructions;
    decoder->last_id = decoder->at_id;
    decoder->at_id = place->block;
}

/* ---- Packets ---- */

enum {
    LONG_TNT_SIZE = 8,
    LONGEST_FAST_PATH = SEQUENCE_BYTES + 8, /* bytes that may be read without checks */
};

static inline uint64_t lowest_bits(uint64_t bits, unsigned count)
{
    return bits & ((UINT64_C(1) << count) - 1);
}

static inline uint64_t read_word(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return word;
}

static inline bool is_short_tnt(const uint8_t *packet)
{
    return !(*packet & 1) && *packet > 2;
}

static inline bool is_long_tnt(const uint8_t *packet)
{
    return packet[0] == 2 && packet[1] == 0xa3;
}

static inline bool is_tip(const uint8_t *packet)
{
    return (*packet & 0x1f) == PT_TIP;
}

/* The size of its address in bytes; 0: it has none, or the size is reserved. */
static inline unsigned tip_address_size(const uint8_t *tip)
{
    static const uint8_t sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};
    return sizes[*tip >> 5];
}

/* The address of the TIP packet at decoder->next; false if it has no valid one. */
static inline bool read_tip(const struct decoder *decoder, uint64_t *ip)
{
    const uint8_t *packet = decoder->next;
    *ip = decoder->last_ip;
    return tip_address_size(packet) && pt_last_ip_update(ip, *packet >> 5, read_word(packet + 1));
}

static inline void pass_tip(struct decoder *decoder, uint64_t ip)
{
    decoder->last_ip = ip;
    decoder->next += 1 + tip_address_size(decoder->next);
}

/* `count` bits, oldest first, of which the lowest is bit 0 of `bits`. */
struct tnt {
    uint64_t bits;
    unsigned count, size;
};

/* Up to six bits: a leading 1, the bits, 0. */
static inline struct tnt short_tnt(const uint8_t *packet)
{
    return (struct tnt){(uint64_t)*packet >> 1, 30 - (unsigned)__builtin_clz(*packet), 1};
}

/* Up to 47 bits after a leading 1; count 0: it is malformed. */
static inline struct tnt long_tnt(const uint8_t *packet)
{
    uint64_t bits = lowest_bits(read_word(packet + 2), 48);
    return (struct tnt){bits, bits ? 63 - (unsigned)__builtin_clzll(bits) : 0, LONG_TNT_SIZE};
}

static inline bool is_cyc(const uint8_t *packet)
{
    return (*packet & 3) == 3;
}

/* A CYC packet of one byte or two. Size 0: it is longer; or on some processors it is an OVF
 * (SKD007). */
struct cyc {
    unsigned cycles, size;
};

static inline struct cyc read_cyc(const uint8_t *packet)
{
    unsigned cycles = *packet >> 3;
    if (!(*packet & 4))
        return (struct cyc){cycles, 1};
    if (packet[1] & 1 || (packet[1] == 0x02 && packet[2] == 0xf3))
        return (struct cyc){0, 0};
    return (struct cyc){cycles | (unsigned)packet[1] >> 1 << 5, 2};
}

#endif
