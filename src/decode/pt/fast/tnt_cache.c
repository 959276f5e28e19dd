#include "decode/pt/fast/tnt_cache.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* A path is learnt when it has been missed so often, with no other in between: learning costs
     * as much as some hundred steps. */
    MISSES = 3,
    MEMORY_AT_MOST = 1 << 27, /* bytes of events; beyond that all paths are forgotten */
    MISSES_JUDGED = 1 << 8,   /* after so many it is time to see whether looking is worth while */
    REST = 1 << 19,           /* bits for which nothing is looked up */
};

void paths_init(struct paths *paths, const struct process *process, struct symbols *symbols)
{
    *paths = (struct paths){.epoch = 1};
    block_cache_init(&paths->cache, process, symbols);
    paths->slots_memory = memory_allocate_zeroed((PATH_SLOTS + 1) * sizeof(*paths->slots));
    paths->slots = memory_align(paths->slots_memory, sizeof(*paths->slots));
    memos_init(&paths->memos);
    control_flow_init(&paths->learning);
    paths->learning.space = process ? &paths->cache.space : NULL;
}

void paths_free(struct paths *paths)
{
    block_cache_free(&paths->cache);
    control_flow_free(&paths->learning);
    arena_free(&paths->memory);
    memos_free(&paths->memos);
    free(paths->slots_memory);
}

/* A walk that begins at `block`, as if control had just arrived there, and tells nobody. */
static struct block_walk begin_learning(struct paths *paths, struct block *block)
{
    struct control_flow *flow = &paths->learning;
    flow->position = 0;
    flow->running = true;
    flow->current = block->bounds;
    flow->last_ip = block->ip; /* any but 0: something ran before */
    flow->branch_kind = BRANCH_NONE;
    event_batch_forget(&flow->batch);
    return_stack_forget(&paths->calls);
    return (struct block_walk){&paths->cache, flow, &paths->calls, block};
}

void *paths_allocate(struct paths *paths, size_t size)
{
    paths->memory_used += size;
    return arena_allocate(&paths->memory, size ? size : 1);
}

static const void *keep(struct arena *memory, const void *elements, size_t size)
{
    return size ? memcpy(arena_allocate(memory, size), elements, size) : NULL;
}

static size_t count_pushes(const struct paths *paths)
{
    size_t count = paths->calls.pushed - paths->calls.floor;
    return count < RETURN_STACK_DEPTH ? count : RETURN_STACK_DEPTH;
}

static const struct return_place *keep_pushes(struct paths *paths, struct arena *memory,
                                              enum x86_mode mode)
{
    const struct return_stack *calls = &paths->calls;
    struct return_place pushes[RETURN_STACK_DEPTH];
    size_t count = count_pushes(paths);
    for (size_t i = 0; i < count; i++) {
        pushes[i] = calls->places[(calls->pushed - count + i) % RETURN_STACK_SLOTS];
        const struct block *block = block_cache_find(&paths->cache, pushes[i].address, mode);
        pushes[i].block = block->id;
        pushes[i].function = block->bounds.function;
    }
    return keep(memory, pushes, count * sizeof(*pushes));
}

/* Strides. */

static bool is_usual(const struct stride *stride)
{
    return stride->event_count <= 1 && stride->push_count <= 1 &&
           stride->instructions <= UINT16_MAX;
}

static uint32_t add_effect(struct block_cache *cache, const struct stride *stride)
{
    if (!stride->event_count && !stride->push_count)
        return 0;
    struct step_effect *effect = array_add(&cache->effects);
    if (stride->event_count)
        effect->event = *stride->events;
    if (stride->push_count)
        effect->push = *stride->pushes;
    return (uint32_t)(cache->effects.count - 1);
}

/* Calls are in their branch's own effect; on the way to a return nothing else is usual. To a jump
 * there may be a call: that of a function in another library, by way of the PLT. */
static bool is_usual_branch(const struct stride *stride, enum flow_kind kind)
{
    if (kind == FLOW_JUMP)
        return is_usual(stride) && stride->push_count <= stride->event_count;
    return is_usual(stride) && !stride->event_count && stride->push_count == (kind == FLOW_CALL);
}

/* The step of a block that runs on to a branch that is not conditional. */
static void learn_branch(struct block_cache *cache, const struct block *block, enum flow_kind kind)
{
    const struct stride *stride = &block->stride;
    bool calls = kind == FLOW_CALL;
    if (!is_usual_branch(stride, kind))
        return;
    if (stride->event_count)
        add_effect(cache, stride);
    struct step_effect *effect = array_add(&cache->effects);
    effect->event = (struct flow_event){.time = {stride->instructions},
                                        .from = stride->last_ip,
                                        .next = calls ? stride->branch->next : 0,
                                        .kind = (uint8_t)kind,
                                        .flags = stride->flags};
    if (calls)
        effect->push = *stride->pushes;
    else
        effect->push.function = stride->branch_function;
    struct step *step = step_of(cache, block->id);
    if (kind == FLOW_RETURN)
        step->to[1] = (uint32_t)STEP_RETURNS;
    else
        step->to[0] = (uint32_t)STEP_INDIRECT;
    step->instructions = (uint16_t)stride->instructions;
    step->event_count = stride->event_count;
    step->push_count = stride->push_count;
    step->effect = (uint32_t)(cache->effects.count - 1);
}

void paths_learn_stride(struct paths *paths, struct block *block)
{
    struct stride *stride = &block->stride;
    const struct control_flow *flow = &paths->learning;
    struct block_walk walk = begin_learning(paths, block);
    enum decode_error error = walk_to_branch(&walk);
    stride->kind = STRIDE_HARD;
    if (error || flow->batch.count > UINT8_MAX)
        return;
    stride->branch = walk.at;
    stride->last_ip = walk.at->last;
    stride->kind = walk.at->kind;
    stride->flags = flow->branch.flags;
    stride->branch_function = flow->current.function;
    stride->instructions = (uint32_t)flow->position;
    stride->event_count = (uint8_t)flow->batch.count;
    stride->events = keep(&paths->cache.memory, flow->batch.events,
                          flow->batch.count * sizeof(*flow->batch.events));
    stride->push_count = (uint8_t)count_pushes(paths);
    stride->pushes = keep_pushes(paths, &paths->cache.memory, walk.at->mode);
    if (stride->kind == BRANCH_RETURN)
        learn_branch(&paths->cache, block, FLOW_RETURN);
    else if (stride->kind == BRANCH_CALL)
        learn_branch(&paths->cache, block, FLOW_CALL);
    else if (stride->kind == BRANCH_JUMP)
        learn_branch(&paths->cache, block, FLOW_JUMP);
}

void paths_learn_step(struct paths *paths, struct block *block, bool taken, const struct block *to)
{
    const struct stride *stride = &block->stride;
    struct step *step = step_of(&paths->cache, block->id);
    if (!is_usual(stride))
        return;
    step->to[taken] = to->id;
    if (step->to[!taken])
        return;
    step->instructions = (uint16_t)stride->instructions;
    step->event_count = stride->event_count;
    step->push_count = stride->push_count;
    step->effect = add_effect(&paths->cache, stride);
}

/* Paths. */

/* No path has this key. */
static void give_up(struct path *path)
{
    path->next = 0;
}

static void learn(struct paths *paths, struct path *path, struct block *block, uint32_t marked_bits)
{
    const struct control_flow *flow = &paths->learning;
    struct block_walk walk = begin_learning(paths, block);
    enum decode_error error = DECODE_OK;
    for (unsigned left = 31 - (unsigned)__builtin_clz(marked_bits); left-- > 0 && !error;)
        error = walk_bit(&walk, marked_bits >> left & 1);
    if (!error)
        control_flow_arrive(walk.flow, walk.at->ip);
    if (error || flow->batch.count > UINT16_MAX) {
        give_up(path);
        return;
    }
    path->next = walk.at->id;
    path->instructions = (uint32_t)flow->position;
    path->last_ip = flow->last_ip;
    path->event_count = (uint16_t)flow->batch.count;
    path->events =
        keep(&paths->memory, flow->batch.events, flow->batch.count * sizeof(*flow->batch.events));
    path->push_count = (uint8_t)count_pushes(paths);
    path->pushes = keep_pushes(paths, &paths->memory, walk.at->mode);
    paths->memory_used += path->event_count * sizeof(*path->events);
}

/* Keys have the epoch in them. */
void paths_keep_up(struct paths *paths)
{
    if (paths->cache_epoch == paths->cache.epoch && paths->memory_used < MEMORY_AT_MOST)
        return;
    arena_free(&paths->memory);
    paths->memory = (struct arena){0};
    paths->memory_used = 0;
    paths->epoch++;
    paths->cache_epoch = paths->cache.epoch;
}

/* Where most lookups are in vain, even looking costs too much. */
static void judge(struct paths *paths)
{
    if (paths->hits < MISSES_JUDGED)
        paths->rest = REST;
    paths->hits = paths->misses = 0;
}

const struct path *paths_miss(struct paths *paths, uint32_t block, uint32_t marked_bits)
{
    if (++paths->misses == MISSES_JUDGED)
        judge(paths);
    paths_keep_up(paths);
    uint64_t key = path_key(paths, block, marked_bits);
    struct path *path = path_slot(paths, key);
    if (path->key == key) /* has been given up */
        return NULL;
    path->missed = path->candidate == key ? path->missed + 1 : 1;
    path->candidate = key;
    if (path->missed < MISSES)
        return NULL;
    *path = (struct path){.key = key};
    learn(paths, path, block_of_id(&paths->cache, block), marked_bits);
    return path->next ? path : NULL;
}
