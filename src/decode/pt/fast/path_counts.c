#include "decode/pt/fast/path_counts.h"

#include "base/memory.h"
#include "decode/pt/blocks/reported_flow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1 << 8 };

/* ---- Counting ---- */

void path_counts_grow(struct path_counts *counts)
{
    while (counts->paths.count < counts->cache->by_id.count)
        array_add(&counts->paths);
}

static struct other_count *other_slot(const struct path_counts *counts, uint32_t from, uint32_t to)
{
    size_t slot = block_hash((uint64_t)from << 32 | to) & (counts->capacity - 1);
    while (counts->others[slot].from != 0 &&
           (counts->others[slot].from != from || counts->others[slot].to != to))
        slot = (slot + 1) & (counts->capacity - 1);
    return &counts->others[slot];
}

static void allocate_others(struct path_counts *counts, size_t capacity)
{
    counts->capacity = capacity;
    counts->others = memory_allocate_zeroed(capacity * sizeof *counts->others);
}

static void grow_others(struct path_counts *counts)
{
    struct other_count *old = counts->others;
    size_t old_capacity = counts->capacity;
    allocate_others(counts, 2 * old_capacity);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].from != 0)
            *other_slot(counts, old[i].from, old[i].to) = old[i];
    free(old);
}

void path_counts_other(struct path_counts *counts, uint32_t from, uint32_t to)
{
    struct other_count *slot = other_slot(counts, from, to);
    slot->count++;
    if (slot->from != 0)
        return;
    slot->from = from;
    slot->to = to;
    if (++counts->count > counts->capacity / 2)
        grow_others(counts);
}

/* ---- Unfolding ---- */

/* What passes a step on with its count. */
struct repeater {
    const struct flow_observer *observer;
    uint64_t count;
};

static void pass_on(void *context, const struct flow_step *step)
{
    const struct repeater *repeater = context;
    repeater->observer->repeated(repeater->observer->context, step, repeater->count);
}

static void report_branch(const struct reported_flow *flow, const struct block *block, uint64_t to)
{
    if (!block->reads_own_address) /* that is a step of the block */
        observe_branch(flow, block->kind, block->last, block->next, to);
}

/* The blocks of the superblock, and the branches between them. */
static void report_way(const struct reported_flow *flow, struct block_cache *cache,
                       const struct block *block)
{
    const struct block *last = block->superblock.branch;
    while (block != last) {
        uint64_t to = block->direct ? block->target : block->next;
        observe_block(flow, block);
        report_branch(flow, block, to);
        block = block_cache_find(cache, to, block->mode);
    }
    observe_block(flow, last);
}

static int compare_others(const void *left, const void *right)
{
    const struct other_count *a = left, *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

/* Packs `others` by `from`; their slots are no longer found. */
static void sort_others(struct path_counts *counts)
{
    size_t kept = 0;
    for (size_t i = 0; i < counts->capacity; i++)
        if (counts->others[i].from != 0)
            counts->others[kept++] = counts->others[i];
    if (kept > 1)
        qsort(counts->others, kept, sizeof *counts->others, compare_others);
}

/* The superblock of the block with this id; its other counts are `others`. */
static void report_path(const struct path_counts *counts, uint32_t id,
                        const struct other_count *others, size_t other_count)
{
    const struct path_count *path = array_at(&counts->paths, id);
    const struct block *block = block_of_id(counts->cache, id);
    struct repeater repeater = {counts->observer, path->count[0] + path->count[1]};
    const struct flow_observer observer = {.context = &repeater,
                                           .instructions = counts->observer->instructions,
                                           .blocks = counts->observer->blocks,
                                           .step = pass_on};
    const struct reported_flow flow = {.observer = &observer, .space = &counts->cache->space};
    for (size_t i = 0; i < other_count; i++)
        repeater.count += others[i].count;
    if (repeater.count == 0)
        return;
    report_way(&flow, counts->cache, block);
    const struct block *branch = block->superblock.branch;
    for (unsigned i = 0; i < 2; i++) {
        repeater.count = path->count[i];
        if (repeater.count > 0)
            report_branch(&flow, branch, block_of_id(counts->cache, path->to[i])->ip);
    }
    for (size_t i = 0; i < other_count; i++) {
        repeater.count = others[i].count;
        report_branch(&flow, branch, block_of_id(counts->cache, others[i].to)->ip);
    }
}

static void report_all(struct path_counts *counts)
{
    size_t other = 0;
    sort_others(counts);
    for (uint32_t id = 1; id < counts->paths.count; id++) {
        size_t first = other;
        while (other < counts->count && counts->others[other].from == id)
            other++;
        report_path(counts, id, counts->others + first, other - first);
    }
}

/* ---- The whole ---- */

/* Reports all counts, if they are wanted, and begins at 0. */
static void settle(void *context)
{
    struct path_counts *counts = context;
    if (counts->wanted)
        report_all(counts);
    counts->paths.count = counts->count = 0;
    memset(counts->others, 0, counts->capacity * sizeof *counts->others);
}

struct path_counts *path_counts_open(const struct flow_observer *observer,
                                     struct block_cache *cache)
{
    struct path_counts *counts = memory_allocate(sizeof *counts);
    *counts = (struct path_counts){
        .observer = observer,
        .cache = cache,
        .paths = array_of(sizeof(struct path_count)),
        .wanted = true,
        .until.value = UINT64_MAX,
    };
    allocate_others(counts, FIRST_CAPACITY);
    cache->before_drop = settle;
    cache->drop_context = counts;
    return counts;
}

void path_counts_begin(struct path_counts *counts, const struct thread *thread, struct ticks time)
{
    const struct flow_observer *observer = counts->observer;
    if (!observer->counts)
        return;
    bool wanted = observer->counts(observer->context, thread, time, &counts->until);
    if (wanted != counts->wanted)
        settle(counts);
    counts->wanted = wanted;
}

void path_counts_close(struct path_counts *counts)
{
    settle(counts);
    counts->cache->before_drop = NULL;
    array_free(&counts->paths);
    free(counts->others);
    free(counts);
}
