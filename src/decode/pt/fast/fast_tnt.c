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

/* What edges change of a decoder: the compiler keeps it in registers. */
struct run {
    struct flow_event *added;
    uint64_t position, pushed;
    uint32_t at, last;
};

static inline void arrive(struct run *run, const struct edge *edge, uint32_t to)
{
    run->position += edge->instructions;
    run->last = run->at;
    run->at = to;
}

static inline void push_of_edge(struct run *run, struct return_stack *returns,
                                const struct edge *edge, const struct edge_effect *way)
{
    returns->places[run->pushed % RETURN_STACK_SLOTS] = way->push;
    run->pushed += edge->push_count;
}

/* Takes the edge of a return. False if there is no call to return from, or the block after it has
 * not been looked up; then nothing has changed. */
static inline bool run_return(struct run *run, struct return_stack *returns,
                              const struct edge *edge, const struct edge_effect *effects)
{
    const struct return_place *place = &returns->places[(run->pushed - 1) % RETURN_STACK_SLOTS];
    if (run->pushed == returns->floor || !place->block)
        return false;
    if (run->pushed - returns->floor > RETURN_STACK_DEPTH)
        returns->floor = run->pushed - RETURN_STACK_DEPTH;
    struct flow_event *event = copy_branch(run->added, edge, &effects[edge->effect], run->position);
    event->to = place->address;
    event->function = place->function;
    run->added = event + 1;
    run->pushed--;
    arrive(run, edge, place->block);
    return true;
}

/* Takes an edge with EDGE_MANY. */
static inline void run_many(struct run *run, struct return_stack *returns, const struct edge *edge,
                            const struct edge_effect *effects, unsigned taken)
{
    const struct edge_effect *way = &effects[edge->effect];
    int32_t to = edge->to[taken];
    push_of_edge(run, returns, edge, way);
    run->added = copy_way(run->added, edge, way, run->position);
    if (to & EDGE_JUMP_EVENT)
        run->added = copy_effect(run->added, edge_own_effect(way, taken), run->position);
    arrive(run, edge, (uint32_t)(to & ~(EDGE_MANY | EDGE_JUMP_EVENT)));
}

/* This function and the next are always_inline: fast_tnt_bit contains them, too, and calls for each
 * packet would cost 5 % of the time.
 *
 * Takes as many of the bits as there are edges for: `*count` of them, oldest first, of which the
 * first is bit 63 of `*bits`. Leaves the others there. */
static inline __attribute__((always_inline)) void take_known_edges(struct decoder *decoder,
                                                                   uint64_t *bits, unsigned *count)
{
    const struct block_cache *cache = cache_of(decoder);
    const struct edge *edges = cache->edges.elements;
    const struct edge_effect *effects = cache->effects.elements;
    struct event_batch *batch = &decoder->flow.batch;
    struct return_stack *returns = &decoder->returns;
    struct run run = {batch->events + batch->count, decoder->flow.position, returns->pushed,
                      decoder->at_id, decoder->last_id};
    for (; *count; --*count, *bits <<= 1) {
        const struct edge *edge = &edges[run.at];
        int32_t to = edge->to[*bits >> 63];
        if (__builtin_expect(to > 0, 1)) {
            if (edge->effect) { /* both are copied; counts of 0 leave out the one that is missing */
                const struct edge_effect *way = &effects[edge->effect];
                push_of_edge(&run, returns, edge, way);
                copy_effect(run.added, way, run.position);
                run.added += edge->event_count;
            }
            arrive(&run, edge, (uint32_t)to);
        } else if (to == EDGE_RETURNS) {
            if (!run_return(&run, returns, edge, effects))
                break;
        } else if (to < EDGE_INDIRECT) {
            run_many(&run, returns, edge, effects, *bits >> 63);
        } else {
            break;
        }
    }
    batch->count = (size_t)(run.added - batch->events);
    returns->pushed = run.pushed;
    decoder->flow.position = run.position;
    decoder->at_id = run.at;
    decoder->last_id = run.last;
}

/* Takes one bit after the other, given as above. Returns how many are left when the slow path must
 * take one. */
static inline __attribute__((always_inline)) unsigned take_edges(struct decoder *decoder,
                                                                 uint64_t bits, unsigned count)
{
    while (count) {
        /* Of each edge EDGE_EVENTS + 1; and one may be written that does not count. */
        event_batch_reserve(&decoder->flow.batch, (EDGE_EVENTS + 2) * count);
        take_known_edges(decoder, &bits, &count);
        if (!count)
            break;
        unsigned taken = bits >> 63;
        const struct edge *edge = edge_of(cache_of(decoder), decoder->at_id);
        bool done = edge->to[taken] == EDGE_RETURNS ? take_return(decoder)
                                                    : take_unusual_bit(decoder, taken);
        if (!done)
            return count;
        count--;
        bits <<= 1;
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

/* This function and the next are noinline, so that fast_tnt saves no registers before it calls one.
 *
 * By TNT-cache entries, and by edges where they miss. */
static __attribute__((noinline)) bool take_by_entries(struct decoder *decoder, uint64_t bits,
                                                      unsigned count)
{
    while (count) {
        unsigned chunk = count < TNT_CACHE_BITS ? count : TNT_CACHE_BITS;
        count -= chunk;
        uint64_t next = lowest_bits(bits >> count, chunk);
        const struct tnt_entry *entry =
            tnt_cache_find(decoder->tnt_cache, decoder->at_id, (uint32_t)next | 1u << chunk);
        if (entry) {
            take_tnt_entry(decoder, entry);
            continue;
        }
        unsigned left = take_edges(decoder, next << (64 - chunk), chunk);
        if (left) {
            fast_tnt_give_up(decoder, bits, count + left);
            return false;
        }
    }
    fast_tnt_report(decoder);
    return true;
}

static __attribute__((noinline)) bool take_by_edges(struct decoder *decoder, uint64_t bits,
                                                    unsigned count)
{
    unsigned left = take_edges(decoder, bits << (64 - count), count);
    if (left) {
        fast_tnt_give_up(decoder, bits, left);
        return false;
    }
    fast_tnt_report(decoder);
    return true;
}

bool fast_tnt(struct decoder *decoder, uint64_t bits, unsigned count)
{
    return tnt_cache_rest(decoder->tnt_cache, count) ? take_by_edges(decoder, bits, count)
                                                     : take_by_entries(decoder, bits, count);
}

bool fast_tnt_bit(struct decoder *decoder, uint64_t bit)
{
    return take_edges(decoder, bit << 63, 1) == 0;
}
