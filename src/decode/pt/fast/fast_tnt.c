/* The fast path for the bits of TNT packets: by TNT-cache entries (tnt_cache.h), else by edges.
 * Leaves bits that neither can take to decoder_branches.c.
 */
#include "decode/pt/fast/fast_path.h"

static inline void take_tnt_entry(struct decoder *decoder, const struct tnt_entry *entry)
{
    struct control_flow *flow = &decoder->flow;
    event_batch_add_relative(&flow->batch, entry->events, entry->event_count, flow->position);
    flow->position += entry->instructions;
    flow->last_ip = entry->last_ip;
    push_all(decoder, entry->pushes, entry->push_count);
    decoder->last_id = 0;
    decoder->at_id = entry->next;
}

/* False if the return stack is empty; then nothing has changed. */
static bool pop_place(struct decoder *decoder, struct return_place *place)
{
    if (!return_stack_pop(&decoder->returns, place))
        return false;
    if (place->block)
        return true;
    const struct block *block = block_at(decoder, place->address);
    place->block = block->id;
    place->function = block->bounds.function;
    return true;
}

/* The conditional jump at the end of the superblock, which has run, goes to another block without an
 * edge, which is learnt for the next time. */
static void take_edge(struct decoder *decoder, struct block *block, bool taken)
{
    const struct block *branch = block->superblock.branch;
    const struct block *to = block_at(decoder, taken ? branch->target : branch->next);
    const struct superblock *superblock = &block->superblock;
    bool leaves = superblock->branch_function != to->bounds.function;
    struct flow_event event = leaves ? branch_event(superblock, FLOW_JUMP, FLOW_DIRECT, 0, to)
                                     : inlined_event(superblock, to);
    if (leaves || changes_inlined(superblock, to)) {
        event_batch_add_relative(&decoder->flow.batch, &event, 1, decoder->flow.position);
        event.time.value = superblock->instructions;
        tnt_cache_learn_edge(decoder->tnt_cache, block, taken, to, &event);
    } else {
        tnt_cache_learn_edge(decoder->tnt_cache, block, taken, to, NULL);
    }
    decoder->at_id = to->id;
}

/* Takes one bit without an edge. False if the slow path must take it; then nothing has changed. */
static bool take_unusual_bit(struct decoder *decoder, bool taken)
{
    struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
    struct superblock *superblock = &block->superblock;
    struct return_place place;
    if (superblock->kind == SUPERBLOCK_UNKNOWN)
        tnt_cache_learn_superblock(decoder->tnt_cache, block);
    if (superblock->kind == BRANCH_CONDITIONAL) {
        run_superblock(decoder, block);
        take_edge(decoder, block, taken);
        return true;
    }
    if (superblock->kind != BRANCH_RETURN || !taken ||
        (!superblock->push_count && !return_stack_newest(&decoder->returns, &place)))
        return false;
    run_superblock(decoder, block);
    if (!pop_place(decoder, &place))
        return false;
    add_event(decoder, superblock, FLOW_RETURN, 0, block_of_id(cache_of(decoder), place.block));
    decoder->at_id = place.block;
    return true;
}

static bool take_return(struct decoder *decoder)
{
    struct return_place place;
    if (!pop_place(decoder, &place))
        return false;
    /* Looking up the block may have moved the edges. */
    take_return_edge(decoder, edge_of(cache_of(decoder), decoder->at_id), &place);
    return true;
}

/* This function and the next are always_inline: fast_tnt_bit contains them, too, and calls for each
 * packet would cost 5 % of the time.
 *
 * Takes as many of the bits as there are edges for: `count` of them, oldest first, of which the
 * lowest is bit 0 of `bits`. Returns how many are left. */
static inline __attribute__((always_inline)) unsigned
take_known_edges(struct decoder *decoder, uint64_t bits, unsigned count)
{
    const struct block_cache *cache = cache_of(decoder);
    const struct edge *edges = cache->edges.elements;
    const struct edge_effect *effects = cache->effects.elements;
    struct event_batch *batch = &decoder->flow.batch;
    struct return_stack *returns = &decoder->returns;
    struct flow_event *added = batch->events + batch->count;
    uint64_t position = decoder->flow.position;
    uint64_t pushed = returns->pushed;
    uint32_t at = decoder->at_id, last = decoder->last_id;
    for (bits <<= 64 - count; count; count--, bits <<= 1) {
        const struct edge *edge = &edges[at];
        uint32_t to = edge->to[bits >> 63];
        if (__builtin_expect(to - 1 >= (uint32_t)EDGE_INDIRECT - 1, 0)) {
            const struct return_place *place = &returns->places[(pushed - 1) % RETURN_STACK_SLOTS];
            if (to != (uint32_t)EDGE_RETURNS || pushed == returns->floor || !place->block)
                break;
            if (pushed - returns->floor > RETURN_STACK_DEPTH)
                returns->floor = pushed - RETURN_STACK_DEPTH;
            const struct edge_effect *own =
                copy_way(&added, edge, &effects[edge->effect], position);
            copy_effect(added, own, position);
            added->to = place->address;
            added->function = place->function;
            added++;
            pushed--;
            position += edge->instructions;
            last = at;
            at = place->block;
            continue;
        }
        if (edge->effect) { /* both are copied; counts of 0 leave out the one that is missing */
            const struct edge_effect *effect = &effects[edge->effect];
            returns->places[pushed % RETURN_STACK_SLOTS] = effect->push;
            pushed += edge->push_count;
            if (edge->has_many) {
                effect = copy_way(&added, edge, effect, position);
                if (edge->jump_events >> (bits >> 63) & 1)
                    added = copy_effect(added, effect + (bits >> 63), position);
            } else {
                copy_effect(added, effect, position);
                added += edge->event_count;
            }
        }
        position += edge->instructions;
        last = at;
        at = to;
    }
    batch->count = (size_t)(added - batch->events);
    returns->pushed = pushed;
    decoder->flow.position = position;
    decoder->at_id = at;
    decoder->last_id = last;
    return count;
}

/* Takes one bit after the other: `count` of them, oldest first, of which the lowest is bit 0 of
 * `bits`. Returns how many are left when the slow path must take one. */
static inline __attribute__((always_inline)) unsigned take_edges(struct decoder *decoder,
                                                                 uint64_t bits, unsigned count)
{
    while (count) {
        event_batch_reserve(&decoder->flow.batch, (EDGE_EVENTS + 1) * count + 1);
        count = take_known_edges(decoder, bits, count);
        if (!count)
            break;
        unsigned taken = bits >> (count - 1) & 1;
        const struct edge *edge = edge_of(cache_of(decoder), decoder->at_id);
        bool done = edge->to[taken] == (uint32_t)EDGE_RETURNS ? take_return(decoder)
                                                              : take_unusual_bit(decoder, taken);
        if (!done)
            return count;
        count--;
    }
    return 0;
}

/* Takes the remaining bits by the slow path. */
void fast_tnt_give_up(struct decoder *decoder, uint64_t bits, unsigned left)
{
    fast_path_leave(decoder);
    decoder_take_bits(decoder, lowest_bits(bits, left) | UINT64_C(1) << left);
    decoder->time_is_news = false;
    decoder_settle(decoder);
}

bool fast_tnt(struct decoder *decoder, uint64_t bits, unsigned count)
{
    while (count) {
        unsigned chunk = count;
        const struct tnt_entry *entry = NULL;
        if (!tnt_cache_rest(decoder->tnt_cache, count)) {
            chunk = count < TNT_CACHE_BITS ? count : TNT_CACHE_BITS;
            entry =
                tnt_cache_find(decoder->tnt_cache, decoder->at_id,
                               (uint32_t)lowest_bits(bits >> (count - chunk), chunk) | 1u << chunk);
        }
        count -= chunk;
        if (entry) {
            take_tnt_entry(decoder, entry);
            continue;
        }
        unsigned left = take_edges(decoder, bits >> count, chunk);
        if (left) {
            fast_tnt_give_up(decoder, bits, count + left);
            return false;
        }
    }
    fast_tnt_report(decoder);
    return true;
}

bool fast_tnt_bit(struct decoder *decoder, uint64_t bit)
{
    return take_edges(decoder, bit, 1) == 0;
}
