/* The loop over TNT, TIP and CYC packets, which nearly all packets are: by packet-sequence cache
 * entries (packet_cache_lookup.c) where a program repeats itself, by the rest of the fast path
 * (fast_path.h) elsewhere. Leaves all other packets to decoder_packets.c.
 */
#include "decode/pt/fast/fast_path.h"

enum {
    PACKETS_AHEAD = 1024, /* bytes by which to prefetch; beyond the end without effect */
};

/* Targets. */

/* A return to the address that the newest call left on the return stack, although it has a packet
 * of its own. False if it is not such a return; then nothing has changed. */
static bool take_expected_return(struct decoder *decoder, const struct edge *edge, uint64_t ip)
{
    struct return_stack *returns = &decoder->returns;
    struct return_place place;
    if (!return_stack_newest(returns, &place) || place.address != ip || !place.block)
        return false;
    return_stack_pop(returns, &place);
    take_return_edge(decoder, edge, &place);
    return true;
}

/* An indirect jump inside a function with inlined ones has been taken. */
static void jump_among_inlined(struct decoder *decoder)
{
    const struct block_cache *cache = cache_of(decoder);
    const struct superblock *superblock = &block_of_id(cache, decoder->last_id)->superblock;
    const struct block *to = block_of_id(cache, decoder->at_id);
    if (changes_inlined(superblock, to))
        add_inlined(decoder, superblock, to);
}

/* An indirect jump or call. */
static inline void take_indirect(struct decoder *decoder, uint64_t ip)
{
    struct control_flow *flow = &decoder->flow;
    struct block_cache *cache = cache_of(decoder);
    const struct block_slot *slot = block_cache_slot(cache, ip, decoder->mode);
    if (!slot->id) {
        block_at(decoder, ip);
        slot = block_cache_slot(cache, ip, decoder->mode);
    }
    const struct edge *edge = edge_of(cache, decoder->at_id);
    event_batch_reserve(&flow->batch, EDGE_EVENTS + 1);
    const struct edge_effect *way = edge_effect_of(cache, edge);
    const struct edge_effect *own = edge_own_effect(way, 0);
    struct flow_event *event =
        copy_branch(&flow->batch.events[flow->batch.count], edge, way, flow->position);
    event->to = ip;
    event->function = slot->function;
    /* The event is written in any case, and counted only if it is needed: whether a jump leaves its
     * function is unpredictable. */
    bool stays = slot->function == own->event.function;
    event += !stays;
    flow->batch.count = (size_t)(event - flow->batch.events);
    return_stack_push(&decoder->returns, own->push, edge->push_count);
    flow->position += edge->instructions;
    decoder->last_id = decoder->at_id;
    decoder->at_id = slot->id;
    if (slot->inlined && stays)
        jump_among_inlined(decoder);
}

/* Takes the branch to `ip` by an edge, if the block has one. */
static inline bool take_target_edge(struct decoder *decoder, uint64_t ip)
{
    const struct edge *edge = edge_of(cache_of(decoder), decoder->at_id);
    if (decoder->mode != decoder->next_mode)
        return false;
    if (edge->to[1] == EDGE_RETURNS)
        return take_expected_return(decoder, edge, ip);
    if (edge->to[0] != EDGE_INDIRECT)
        return false;
    take_indirect(decoder, ip);
    return true;
}

/* False if the branch must be left to the slow path. */
static bool take_target(struct decoder *decoder, uint64_t ip)
{
    struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
    struct superblock *superblock = &block->superblock;
    if (superblock->kind == SUPERBLOCK_UNKNOWN)
        tnt_cache_learn_superblock(decoder->tnt_cache, block);
    if (decoder->mode != decoder->next_mode ||
        (superblock->kind != BRANCH_RETURN && superblock->kind != BRANCH_CALL &&
         superblock->kind != BRANCH_JUMP))
        return false;
    run_superblock(decoder, block);
    const struct block *to = block_at(decoder, ip);
    if (superblock->kind == BRANCH_RETURN) {
        struct return_place place;
        return_stack_pop(&decoder->returns, &place);
        add_event(decoder, superblock, FLOW_RETURN, 0, to);
    } else if (superblock->kind == BRANCH_CALL)
        add_event(decoder, superblock, FLOW_CALL, superblock->branch->next, to);
    else if (superblock->flags & FLOW_LOADS_STACK ||
             block->superblock.branch_function != to->bounds.function)
        add_event(decoder, superblock, FLOW_JUMP, 0, to);
    else if (changes_inlined(superblock, to))
        add_inlined(decoder, superblock, to);
    decoder->at_id = to->id;
    return true;
}

/* Packets. */

static inline enum way take_tnt(struct decoder *decoder, struct tnt tnt)
{
    if (!tnt.count)
        return WAY_STOP;
    decoder->next += tnt.size;
    return fast_tnt(decoder, tnt.bits, tnt.count) ? WAY_ON : WAY_LEFT;
}

static inline enum way take_tip(struct decoder *decoder)
{
    size_t events = decoder->flow.batch.count;
    uint64_t ip;
    if (!read_tip(decoder, &ip) || (!take_target_edge(decoder, ip) && !take_target(decoder, ip)))
        return WAY_STOP;
    pass_tip(decoder, ip);
    if (decoder->time_is_news) {
        mark_exact(decoder, events);
        anchor_branch(decoder);
    }
    return WAY_ON;
}

enum way fast_tip(struct decoder *decoder)
{
    uint64_t ip;
    if (!read_tip(decoder, &ip) || !take_target(decoder, ip))
        return WAY_STOP;
    pass_tip(decoder, ip);
    return WAY_ON;
}

static inline enum way take_cyc(struct decoder *decoder)
{
    struct cyc cyc = read_cyc(decoder->next);
    if (!cyc.size)
        return WAY_STOP;
    decoder_settle_time(decoder);
    packet_time_cyc(&decoder->time, cyc.cycles);
    decoder->time_is_news = decoder->counts_cycles = true;
    decoder->next += cyc.size;
    return decoder->time.now.value >= decoder->deadline ? WAY_STOP : WAY_ON;
}

enum way fast_cyc(struct decoder *decoder)
{
    return take_cyc(decoder);
}

/* Takes packets by the packet-sequence cache. WAY_STOP with decoder->next unchanged: there is no
 * entry. No entry begins after a packet that gave the time. */
static inline enum way take_packet_sequence(struct decoder *decoder, uint64_t *steps)
{
    if (decoder->time_is_news || packet_cache_rest(&decoder->tnt_cache->packet_cache))
        return WAY_STOP;
    return decoder->counts_cycles ? packet_sequence_of_counted(decoder, steps)
                                  : packet_sequence_of_plain(decoder, steps);
}

static inline enum way take_packet(struct decoder *decoder, uint64_t *steps)
{
    const uint8_t *packet = decoder->next;
    enum way way = take_packet_sequence(decoder, steps);
    if (decoder->next != packet)
        return way;
    if (is_short_tnt(packet))
        return take_tnt(decoder, short_tnt(packet));
    if (is_tip(packet))
        return take_tip(decoder);
    if (is_cyc(packet))
        return take_cyc(decoder);
    return is_long_tnt(packet) ? take_tnt(decoder, long_tnt(packet)) : WAY_STOP;
}

/* Takes the packets at decoder->next as long as the fast path handles them. Marked hot, because GCC
 * otherwise treats parts of it as cold and copies events there by rep movs, which is slow to start.
 */
__attribute__((hot)) void decoder_take_fast_packets(struct decoder *decoder, uint64_t *steps)
{
    const uint8_t *end = decoder->end - LONGEST_FAST_PATH;
    enum way way = WAY_ON;
    fast_path_enter(decoder);
    for (; way == WAY_ON && decoder->next < end && *steps; --*steps) {
        __builtin_prefetch(decoder->next + PACKETS_AHEAD);
        way = take_packet(decoder, steps);
    }
    if (way == WAY_LEFT)
        return;
    fast_path_leave(decoder);
    if (decoder->time.now.value >= decoder->deadline)
        decoder_reach_deadline(decoder);
}
