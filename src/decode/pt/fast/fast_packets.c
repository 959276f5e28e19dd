/* The loop over TNT, TIP and CYC packets, which nearly all are: by memos (packet_cache_lookup.c) where a
 * program repeats itself, by the other short ways (fast_path.h) elsewhere. Everything unusual is
 * left to decoder_packets.c.
 */
#include "decode/pt/fast/fast_path.h"

enum {
    LONGEST_FAST_PATH = SEQUENCE_BYTES + 8, /* bytes that may be read without asking */
    PACKETS_AHEAD = 1024, /* bytes that memory needs to be asked for early, in vain at the end */
};

/* Targets. */

static struct block *target_of(struct decoder *decoder, struct block *block, uint64_t ip)
{
    struct return_place place;
    if (block->superblock.kind == BRANCH_RETURN)
        return_stack_pop(&decoder->returns, &place);
    struct block *to = block->to[0];
    if (!to || to->ip != ip)
        to = block->to[0] = block_at(decoder, ip);
    return to;
}

/* A return whose address is what a call has left behind, although it has a packet of its own. False
 * when it is none; then nothing has happened. */
static bool take_expected_return(struct decoder *decoder, const struct edge *edge, uint64_t ip)
{
    struct return_stack *returns = &decoder->returns;
    struct return_place place;
    if (!return_stack_newest(returns, &place) || place.address != ip || !place.block)
        return false;
    return_stack_pop(returns, &place);
    step_to_place(decoder, edge, &place);
    return true;
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
    const struct edge_effect *effect = edge_effect_of(cache, edge);
    const struct edge_effect *call = effect;
    event_batch_reserve(&flow->batch, 2);
    struct flow_event *event = &flow->batch.events[flow->batch.count];
    if (edge->event_count) {
        call = effect - 1;
        *event = call->event;
        event->time.value += flow->position;
        event++;
    }
    *event = effect->event;
    event->time.value += flow->position;
    event->to = ip;
    event->function = slot->function;
    /* Written in any case, because nobody can foresee which jumps leave their function. */
    event += (effect->event.kind == FLOW_CALL) | ((effect->event.flags & FLOW_LOADS_STACK) != 0) |
             (slot->function != effect->push.function);
    flow->batch.count = (size_t)(event - flow->batch.events);
    return_stack_push(&decoder->returns, call->push, edge->push_count);
    flow->position += edge->instructions;
    decoder->last_id = decoder->at_id;
    decoder->at_id = slot->id;
}

/* Takes the branch to `ip` by a step, if one is known for it. */
static inline bool take_target_edge(struct decoder *decoder, uint64_t ip)
{
    const struct edge *edge = edge_of(cache_of(decoder), decoder->at_id);
    if (decoder->mode != decoder->next_mode)
        return false;
    if (edge->to[1] == (uint32_t)EDGE_RETURNS)
        return take_expected_return(decoder, edge, ip);
    if (edge->to[0] != (uint32_t)EDGE_INDIRECT)
        return false;
    take_indirect(decoder, ip);
    return true;
}

/* False when the branch is of a kind that is left to the long way. */
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
    struct block *to = target_of(decoder, block, ip);
    if (superblock->kind == BRANCH_RETURN)
        add_event(decoder, superblock, FLOW_RETURN, 0, 0, to);
    else if (superblock->kind == BRANCH_CALL)
        add_event(decoder, superblock, FLOW_CALL, 0, superblock->branch->next, to);
    else if (superblock->flags & FLOW_LOADS_STACK ||
             block->superblock.branch_function != to->bounds.function)
        add_event(decoder, superblock, FLOW_JUMP, 0, 0, to);
    decoder->at_id = to->id;
    return true;
}

/* Packets. */

/* If there is a TIP packet at decoder->next, its target will be looked for behind the TNT packet
 * before: until then it can have come into the processor's cache. */
static inline void expect_tip(const struct decoder *decoder)
{
    uint64_t ip = decoder->last_ip;
    if (is_tip(decoder->next) &&
        pt_last_ip_update(&ip, (uint8_t)(*decoder->next >> 5), read_word(decoder->next + 1)))
        block_cache_expect(&decoder->tnt_cache->cache, ip);
}

static inline enum way take_tnt(struct decoder *decoder, struct tnt tnt)
{
    if (!tnt.count)
        return WAY_STOP;
    decoder->next += tnt.size;
    expect_tip(decoder);
    return fast_tnt(decoder, tnt.bits, tnt.count) ? WAY_ON : WAY_LEFT;
}

/* The address of the TIP packet at decoder->next; false when it has none that is right. */
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

/* Packets that came before, by memos; where nothing is known of them, nothing happens. Behind a
 * packet that told the time there are none. */
static inline enum way take_packet_sequence(struct decoder *decoder, uint64_t *edges)
{
    if (decoder->time_is_news || packet_cache_rest(&decoder->tnt_cache->packet_cache))
        return WAY_STOP;
    return decoder->counts_cycles ? packet_sequence_of_counted(decoder, edges)
                                  : packet_sequence_of_plain(decoder, edges);
}

static inline enum way take_packet(struct decoder *decoder, uint64_t *edges)
{
    const uint8_t *packet = decoder->next;
    enum way way = take_packet_sequence(decoder, edges);
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

/* Takes the packets at decoder->next as long as there are short ways for them. Hot, or GCC takes
 * parts of it for cold and copies events by rep movs there, which takes long to begin. */
__attribute__((hot)) void decoder_take_fast_packets(struct decoder *decoder, uint64_t *edges)
{
    const uint8_t *end = decoder->end - LONGEST_FAST_PATH;
    enum way way = WAY_ON;
    fast_path_enter(decoder);
    for (; way == WAY_ON && decoder->next < end && *edges; --*edges) {
        __builtin_prefetch(decoder->next + PACKETS_AHEAD);
        way = take_packet(decoder, edges);
    }
    if (way == WAY_LEFT)
        return;
    fast_path_leave(decoder);
    if (decoder->time.now.value >= decoder->deadline)
        decoder_reach_deadline(decoder);
}
