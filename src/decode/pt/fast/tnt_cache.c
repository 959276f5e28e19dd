#include "decode/pt/fast/tnt_cache.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* An entry is learnt after this many misses of its key in a row: learning costs as much as some
     * hundred edges. */
    MISSES = 3,
    MEMORY_AT_MOST = 1 << 27, /* bytes of events; beyond that all entries are dropped */
    MISSES_JUDGED = 1 << 8,   /* after this many misses the hits decide whether lookups pay */
    REST = 1 << 19,           /* bits for which no lookup is made */
};

void tnt_cache_init(struct tnt_cache *tnt_cache, const struct process *process,
                    struct symbols *symbols)
{
    *tnt_cache = (struct tnt_cache){.epoch = 1};
    block_cache_init(&tnt_cache->cache, process, symbols);
    tnt_cache->slots_memory =
        memory_allocate_zeroed((TNT_CACHE_SLOTS + 1) * sizeof(*tnt_cache->slots));
    tnt_cache->slots = memory_align(tnt_cache->slots_memory, sizeof(*tnt_cache->slots));
    packet_cache_init(&tnt_cache->packet_cache);
    control_flow_init(&tnt_cache->learning);
    tnt_cache->learning.space = process ? &tnt_cache->cache.space : NULL;
}

void tnt_cache_free(struct tnt_cache *tnt_cache)
{
    if (tnt_cache->counts)
        path_counts_close(tnt_cache->counts);
    block_cache_free(&tnt_cache->cache);
    control_flow_free(&tnt_cache->learning);
    arena_free(&tnt_cache->memory);
    packet_cache_free(&tnt_cache->packet_cache);
    free(tnt_cache->slots_memory);
}

/* A walk that begins at `block` as if control had just arrived there; its events go nowhere. */
static struct block_walk begin_learning(struct tnt_cache *tnt_cache, struct block *block)
{
    struct control_flow *flow = &tnt_cache->learning;
    flow->position = 0;
    flow->running = true;
    flow->current = block->bounds;
    flow->inlined = block->inlined;
    flow->last_ip = block->ip; /* any but 0: something ran before */
    flow->branch = (struct flow_event){0};
    flow->branch_kind = BRANCH_NONE;
    event_batch_forget(&flow->batch);
    return_stack_forget(&tnt_cache->calls);
    return (struct block_walk){&tnt_cache->cache, flow, &tnt_cache->calls, block};
}

void *tnt_cache_allocate(struct tnt_cache *tnt_cache, size_t size)
{
    tnt_cache->memory_used += size;
    return arena_allocate(&tnt_cache->memory, size ? size : 1);
}

static const void *keep(struct arena *memory, const void *elements, size_t size)
{
    return size ? memcpy(arena_allocate(memory, size), elements, size) : NULL;
}

static size_t count_pushes(const struct tnt_cache *tnt_cache)
{
    size_t count = tnt_cache->calls.pushed - tnt_cache->calls.floor;
    return count < RETURN_STACK_DEPTH ? count : RETURN_STACK_DEPTH;
}

static const struct return_place *keep_pushes(struct tnt_cache *tnt_cache, struct arena *memory,
                                              enum x86_mode mode)
{
    const struct return_stack *calls = &tnt_cache->calls;
    struct return_place pushes[RETURN_STACK_DEPTH];
    size_t count = count_pushes(tnt_cache);
    for (size_t i = 0; i < count; i++) {
        pushes[i] = calls->places[(calls->pushed - count + i) % RETURN_STACK_SLOTS];
        const struct block *block = block_cache_find(&tnt_cache->cache, pushes[i].address, mode);
        pushes[i].block = block->id;
        pushes[i].function = block->bounds.function;
    }
    return keep(memory, pushes, count * sizeof(*pushes));
}

/* Superblocks. */

static bool is_usual(const struct superblock *superblock)
{
    return superblock->event_count <= EDGE_EVENTS && superblock->push_count <= 1 &&
           superblock->instructions <= UINT16_MAX;
}

/* Adds `own` empty effects for the branch itself, and those of what is on the way, at least `least`
 * of them. Returns the index of the first on the way. */
static uint32_t add_effects(struct block_cache *cache, const struct superblock *superblock,
                            size_t own, size_t least)
{
    size_t way = cache->effects.count + own, count = superblock->event_count;
    for (size_t i = 0; i < own; i++)
        array_add(&cache->effects);
    for (size_t i = 0; i < count || i < least; i++) {
        struct edge_effect *effect = array_add(&cache->effects);
        if (i < count)
            effect->event = superblock->events[i];
    }
    return (uint32_t)way;
}

static struct edge_effect *effect_at(struct block_cache *cache, size_t index)
{
    return array_at(&cache->effects, index);
}

/* Whether an edge can hold the branch. No call may be on the way to a return; on the way to a call
 * is only that one. On the way to a jump there may be one: that of a function in another library,
 * through the PLT. */
static bool is_usual_branch(const struct superblock *superblock, enum flow_kind kind)
{
    return is_usual(superblock) &&
           (kind == FLOW_JUMP || superblock->push_count == (kind == FLOW_CALL));
}

/* Learns the edge of a block whose superblock ends in a branch that is not conditional. */
static void learn_branch(struct block_cache *cache, const struct block *block, enum flow_kind kind)
{
    const struct superblock *superblock = &block->superblock;
    bool calls = kind == FLOW_CALL;
    if (!is_usual_branch(superblock, kind))
        return;
    struct edge *edge = edge_of(cache, block->id);
    bool is_always_event = calls || superblock->flags & FLOW_LOADS_STACK;
    edge->effect = add_effects(cache, superblock, 1, 0);
    struct edge_effect *own = effect_at(cache, edge->effect - 1);
    own->event = (struct flow_event){.time = {superblock->instructions},
                                     .from = superblock->last_ip,
                                     .next = calls ? superblock->branch->next : 0,
                                     .function = is_always_event ? EDGE_ANY_FUNCTION
                                                                 : superblock->branch_function,
                                     .kind = (uint8_t)kind,
                                     .flags = superblock->flags};
    if (superblock->push_count > 0)
        own->push = *superblock->pushes;
    if (kind == FLOW_RETURN)
        edge->to[1] = EDGE_RETURNS;
    else
        edge->to[0] = EDGE_INDIRECT;
    edge->instructions = (uint16_t)superblock->instructions;
    edge->event_count = superblock->event_count;
    edge->push_count = superblock->push_count;
}

void tnt_cache_learn_superblock(struct tnt_cache *tnt_cache, struct block *block)
{
    struct superblock *superblock = &block->superblock;
    const struct control_flow *flow = &tnt_cache->learning;
    struct block_walk walk = begin_learning(tnt_cache, block);
    enum decode_error error = walk_to_branch(&walk);
    superblock->kind = SUPERBLOCK_HARD;
    if (error || flow->batch.count > UINT8_MAX)
        return;
    superblock->branch = walk.at;
    superblock->last_ip = walk.at->last;
    superblock->kind = walk.at->kind;
    superblock->flags = flow->branch.flags;
    superblock->branch_function = flow->current.function;
    superblock->branch_inlined = flow->inlined;
    superblock->instructions = (uint32_t)flow->position;
    superblock->event_count = (uint8_t)flow->batch.count;
    superblock->events = keep(&tnt_cache->cache.memory, flow->batch.events,
                              flow->batch.count * sizeof(*flow->batch.events));
    superblock->push_count = (uint8_t)count_pushes(tnt_cache);
    superblock->pushes = keep_pushes(tnt_cache, &tnt_cache->cache.memory, walk.at->mode);
    if (superblock->kind == BRANCH_RETURN)
        learn_branch(&tnt_cache->cache, block, FLOW_RETURN);
    else if (superblock->kind == BRANCH_CALL)
        learn_branch(&tnt_cache->cache, block, FLOW_CALL);
    else if (superblock->kind == BRANCH_JUMP)
        learn_branch(&tnt_cache->cache, block, FLOW_JUMP);
}

/* The part of a conditional jump's edge that is the same wherever it goes. */
static void learn_way(struct block_cache *cache, const struct superblock *superblock,
                      struct edge *edge, bool jump_makes_events)
{
    edge->instructions = (uint16_t)superblock->instructions;
    edge->event_count = superblock->event_count;
    edge->push_count = superblock->push_count;
    if (!jump_makes_events && superblock->event_count == 0 && superblock->push_count == 0)
        return;
    edge->effect = add_effects(cache, superblock, jump_makes_events ? 2 : 0, 1);
    if (superblock->push_count > 0)
        effect_at(cache, edge->effect)->push = *superblock->pushes;
}

void tnt_cache_learn_edge(struct tnt_cache *tnt_cache, struct block *block, bool taken,
                          const struct block *to, const struct flow_event *event)
{
    struct block_cache *cache = &tnt_cache->cache;
    const struct superblock *superblock = &block->superblock;
    struct edge *edge = edge_of(cache, block->id);
    if (!is_usual(superblock))
        return;
    bool is_new = edge->to[0] == 0 && edge->to[1] == 0;
    bool has_own = edge->to[!taken] & EDGE_JUMP_EVENT;
    if (is_new || (event != NULL && !has_own))
        learn_way(cache, superblock, edge, event != NULL);
    edge->to[taken] = (int32_t)to->id;
    if (event != NULL || superblock->event_count > 1)
        edge->to[taken] |= EDGE_MANY;
    if (event == NULL)
        return;
    edge->to[taken] |= EDGE_JUMP_EVENT;
    effect_at(cache, edge->effect - 1 - taken)->event = *event;
}

/* TNT-cache entries. */

/* Marks the key as having no entry. */
static void give_up(struct tnt_entry *entry)
{
    entry->next = 0;
}

static void learn(struct tnt_cache *tnt_cache, struct tnt_entry *entry, struct block *block,
                  uint32_t marked_bits)
{
    const struct control_flow *flow = &tnt_cache->learning;
    struct block_walk walk = begin_learning(tnt_cache, block);
    enum decode_error error = DECODE_OK;
    for (unsigned left = 31 - (unsigned)__builtin_clz(marked_bits); left-- > 0 && !error;)
        error = walk_bit(&walk, marked_bits >> left & 1);
    if (!error)
        control_flow_arrive(walk.flow, walk.at->ip);
    if (error || flow->batch.count > UINT16_MAX) {
        give_up(entry);
        return;
    }
    entry->next = walk.at->id;
    entry->instructions = (uint32_t)flow->position;
    entry->last_ip = flow->last_ip;
    entry->event_count = (uint16_t)flow->batch.count;
    entry->events = keep(&tnt_cache->memory, flow->batch.events,
                         flow->batch.count * sizeof(*flow->batch.events));
    entry->push_count = (uint8_t)count_pushes(tnt_cache);
    entry->pushes = keep_pushes(tnt_cache, &tnt_cache->memory, walk.at->mode);
    tnt_cache->memory_used += entry->event_count * sizeof(*entry->events);
}

/* Keys contain the epoch, so older entries no longer match. */
void tnt_cache_keep_up(struct tnt_cache *tnt_cache)
{
    if (tnt_cache->cache_epoch == tnt_cache->cache.epoch && tnt_cache->memory_used < MEMORY_AT_MOST)
        return;
    arena_free(&tnt_cache->memory);
    tnt_cache->memory = (struct arena){0};
    tnt_cache->memory_used = 0;
    tnt_cache->epoch++;
    tnt_cache->cache_epoch = tnt_cache->cache.epoch;
}

/* Where most lookups miss, even looking up costs too much. */
static void judge(struct tnt_cache *tnt_cache)
{
    if (tnt_cache->hits < MISSES_JUDGED)
        tnt_cache->rest = REST;
    tnt_cache->hits = tnt_cache->misses = 0;
}

const struct tnt_entry *tnt_cache_miss(struct tnt_cache *tnt_cache, uint32_t block,
                                       uint32_t marked_bits)
{
    if (++tnt_cache->misses == MISSES_JUDGED)
        judge(tnt_cache);
    tnt_cache_keep_up(tnt_cache);
    uint64_t key = tnt_entry_key(tnt_cache, block, marked_bits);
    struct tnt_entry *entry = tnt_cache_slot(tnt_cache, key);
    if (entry->key == key) /* it has been given up */
        return NULL;
    entry->missed = entry->candidate == key ? entry->missed + 1 : 1;
    entry->candidate = key;
    if (entry->missed < MISSES)
        return NULL;
    *entry = (struct tnt_entry){.key = key};
    learn(tnt_cache, entry, block_of_id(&tnt_cache->cache, block), marked_bits);
    return entry->next ? entry : NULL;
}
