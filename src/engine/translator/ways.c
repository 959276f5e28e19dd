#include "engine/translator/ways.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 256 };

struct ways {
    const struct way **table; /* open addressing; at most half full */
    uint64_t mask;
    uint64_t count;
    struct arena memory;
};

struct ways *ways_open(void)
{
    struct ways *ways = memory_allocate_zeroed(sizeof *ways);
    ways->table = memory_allocate_zeroed(FIRST_SIZE * sizeof *ways->table);
    ways->mask = FIRST_SIZE - 1;
    return ways;
}

void ways_close(struct ways *ways)
{
    if (!ways)
        return;
    arena_free(&ways->memory);
    free(ways->table);
    free(ways);
}

static uint64_t place_of(const struct ways *ways, const struct fragment *from,
                         struct way_words words)
{
    static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = (uint64_t)(uintptr_t)from ^ (uint64_t)words.entry << 32 ^
                   (uint64_t)TR_EVENT_PAYLOAD(words.exit) << 24;
    return key * multiplier >> 32 & ways->mask;
}

const struct way *ways_find(const struct ways *ways, const struct fragment *from,
                            struct way_words words)
{
    for (uint64_t at = place_of(ways, from, words);; at = (at + 1) & ways->mask) {
        const struct way *way = ways->table[at];
        if (!way ||
            (way->from == from && way->words.entry == words.entry && way->words.exit == words.exit))
            return way;
    }
}

static void insert(struct ways *ways, const struct way *way)
{
    uint64_t at = place_of(ways, way->from, way->words);
    while (ways->table[at])
        at = (at + 1) & ways->mask;
    ways->table[at] = way;
}

static void grow(struct ways *ways)
{
    const struct way **before = ways->table;
    uint64_t size = ways->mask + 1;
    ways->table = memory_allocate_zeroed(2 * size * sizeof *ways->table);
    ways->mask = 2 * size - 1;
    for (uint64_t i = 0; i < size; i++)
        if (before[i])
            insert(ways, before[i]);
    free(before);
}

/* Finds the runs; `runs` has room for one for each block. */
static unsigned find_runs(const struct way *way, struct way_run *runs)
{
    unsigned blocks = way->exit + 2u, count = 0;
    for (unsigned i = 0; i < blocks; i++) {
        struct pt_code_block *block = way_block(way, i);
        if (count == 0 || !pt_block_run_extend(&runs[count - 1].run, block)) {
            runs[count].begin = (uint16_t)i;
            pt_block_run_begin(&runs[count++].run, block);
        }
        runs[count - 1].end = (uint16_t)(i + 1);
    }
    return count;
}

const struct way *ways_add(struct ways *ways, const struct fragment *from,
                           const struct fragment *to, struct way_words words, unsigned exit)
{
    struct way found = {.from = from, .to = to, .words = words, .exit = (uint16_t)exit};
    found.instructions = fragment_instructions(from, 0, exit) - from->blocks[0].code->instructions +
                         to->blocks[0].code->instructions;
    struct way_run *runs = memory_allocate((exit + 2) * sizeof *runs);
    found.run_count = (uint16_t)find_runs(&found, runs);
    size_t size = found.run_count * sizeof *runs;
    struct way *way = arena_allocate(&ways->memory, sizeof *way + size);
    *way = found;
    memcpy(way->runs, runs, size);
    free(runs);
    if (2 * ++ways->count > ways->mask)
        grow(ways);
    insert(ways, way);
    return way;
}
