#include "flow/path.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 1 << 12,
    /* Beyond that all paths are forgotten: so hostile data cannot fill the memory. */
    PATHS_AT_MOST = 1 << 20,
    MEMORY_AT_MOST = 1 << 28, /* bytes of events */
};

void paths_init(struct paths *paths, const struct process *process, struct symbols *symbols)
{
    *paths = (struct paths){.capacity = FIRST_CAPACITY, .epoch = 1};
    block_cache_init(&paths->cache, process, symbols);
    paths->slots = memory_allocate_zeroed(paths->capacity * sizeof(*paths->slots));
    control_flow_init(&paths->learning);
    paths->learning.space = process ? &paths->cache.space : NULL;
}

void paths_free(struct paths *paths)
{
    block_cache_free(&paths->cache);
    control_flow_free(&paths->learning);
    arena_free(&paths->memory);
    free(paths->slots);
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
    paths->calls.depth = paths->calls.pushed = 0;
    return (struct block_walk){&paths->cache, flow, &paths->calls, block};
}

static void *keep(struct paths *paths, const void *elements, size_t size)
{
    paths->memory_used += size;
    return size ? memcpy(arena_allocate(&paths->memory, size), elements, size) : NULL;
}

static void keep_pushes(struct paths *paths, struct path *path, enum x86_mode mode)
{
    const struct return_stack *calls = &paths->calls;
    struct return_place pushes[RETURN_STACK_DEPTH];
    path->push_count = (uint16_t)calls->depth;
    for (uint64_t i = 0; i < calls->depth; i++) {
        pushes[i] = calls->places[(calls->pushed - calls->depth + i) % RETURN_STACK_DEPTH];
        pushes[i].block = block_cache_find(&paths->cache, pushes[i].address, mode);
    }
    path->pushes = keep(paths, pushes, path->push_count * sizeof(*pushes));
}

/* What has been walked is the path; `at` is where it ends. */
static void end_learning(struct paths *paths, struct path *path, struct block *at)
{
    const struct control_flow *flow = &paths->learning;
    path->next = at;
    path->instructions = (uint32_t)flow->position;
    path->last_ip = flow->last_ip;
    path->flags = flow->branch.flags;
    path->function = flow->current.function;
    if (flow->batch.count > UINT16_MAX) {
        path->end = PATH_FAILED;
        path->error = DECODE_ENDLESS;
        return;
    }
    path->event_count = (uint16_t)flow->batch.count;
    path->events = keep(paths, flow->batch.events, flow->batch.count * sizeof(*flow->batch.events));
    keep_pushes(paths, path, at->mode);
}

static void learn(struct paths *paths, struct path *path, struct block *block, uint32_t marked_bits)
{
    struct block_walk walk = begin_learning(paths, block);
    unsigned count = 31 - (unsigned)__builtin_clz(marked_bits);
    enum decode_error error = DECODE_OK;
    while (!error && path->bits < count) {
        error = walk_bit(&walk, marked_bits >> (count - 1 - path->bits) & 1);
        path->bits += !error || error == DECODE_EMPTY_RETURN_STACK;
    }
    if (!error)
        control_flow_arrive(walk.flow, walk.at->ip);
    path->end = PATH_AT_BLOCK;
    if (error == DECODE_EMPTY_RETURN_STACK)
        path->end = PATH_AT_RETURN;
    else if (error == DECODE_BIT_AT_INDIRECT)
        path->end = PATH_AT_BRANCH;
    else if (error)
        path->end = PATH_FAILED;
    path->error = (uint8_t)error;
    end_learning(paths, path, walk.at);
}

static void learn_tail(struct paths *paths, struct path *path, struct block *block)
{
    struct block_walk walk = begin_learning(paths, block);
    path->error = (uint8_t)walk_to_branch(&walk);
    path->end = path->error ? PATH_FAILED : PATH_AT_BRANCH;
    end_learning(paths, path, walk.at);
}

static void forget_all(struct paths *paths)
{
    arena_free(&paths->memory);
    paths->memory = (struct arena){0};
    paths->memory_used = 0;
    paths->count = 0;
    paths->epoch++;
    paths->cache_epoch = paths->cache.epoch;
}

static void make_room(struct paths *paths)
{
    if (paths->cache_epoch != paths->cache.epoch || paths->count > PATHS_AT_MOST ||
        paths->memory_used > MEMORY_AT_MOST)
        forget_all(paths);
}

static struct path *slot_of(const struct paths *paths, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (paths->capacity - 1);
    while (paths->slots[slot].epoch == paths->epoch && paths->slots[slot].key != key)
        slot = (slot + 1) & (paths->capacity - 1);
    return &paths->slots[slot];
}

static void grow(struct paths *paths)
{
    struct path *old = paths->slots;
    size_t old_capacity = paths->capacity;
    paths->capacity *= 2;
    paths->slots = memory_allocate_zeroed(paths->capacity * sizeof(*paths->slots));
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].epoch == paths->epoch)
            *slot_of(paths, old[i].key) = old[i];
    free(old);
}

const struct path *paths_find(struct paths *paths, struct block *block, uint32_t marked_bits)
{
    uint64_t key = (uint64_t)block->id << (PATH_BITS + 1) | marked_bits;
    struct path *path = slot_of(paths, key);
    if (__builtin_expect(path->epoch == paths->epoch, 1))
        return path;
    make_room(paths);
    if (paths->count > paths->capacity / 2)
        grow(paths);
    path = slot_of(paths, key);
    *path = (struct path){.key = key, .epoch = paths->epoch};
    paths->count++;
    learn(paths, path, block, marked_bits);
    return path;
}

const struct path *paths_tail(struct paths *paths, struct block *block)
{
    if (__builtin_expect(block->tail_epoch == paths->epoch, 1))
        return block->tail;
    make_room(paths);
    paths->memory_used += sizeof(*block->tail);
    block->tail_epoch = paths->epoch;
    block->tail = arena_allocate(&paths->memory, sizeof(*block->tail));
    *block->tail = (struct path){.epoch = paths->epoch};
    learn_tail(paths, block->tail, block);
    return block->tail;
}
