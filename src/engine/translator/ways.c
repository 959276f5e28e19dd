#include "engine/translator/ways.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { FIRST_SIZE = 256 };

struct way_table {
    uint32_t serial;
    const struct way **slots; /* open addressing; at most half full */
    uint64_t mask;
    uint64_t count;
    struct arena memory;
    UT_hash_handle hh;
};

struct ways {
    struct way_table *tables;
};

struct ways *ways_open(void)
{
    return memory_allocate_zeroed(sizeof(struct ways));
}

static void free_table(struct way_table *table)
{
    arena_free(&table->memory);
    free(table->slots);
    free(table);
}

void ways_close(struct ways *ways)
{
    struct way_table *table, *next;
    if (!ways)
        return;
    HASH_ITER(hh, ways->tables, table, next)
    {
        HASH_DEL(ways->tables, table);
        free_table(table);
    }
    free(ways);
}

struct way_table *ways_table(struct ways *ways, uint32_t serial)
{
    struct way_table *table;
    HASH_FIND(hh, ways->tables, &serial, sizeof serial, table);
    if (table)
        return table;
    table = memory_allocate_zeroed(sizeof *table);
    table->serial = serial;
    table->slots = memory_allocate_zeroed(FIRST_SIZE * sizeof *table->slots);
    table->mask = FIRST_SIZE - 1;
    HASH_ADD(hh, ways->tables, serial, sizeof table->serial, table);
    return table;
}

static uint64_t place_of(const struct way_table *table, const struct fragment *from,
                         struct way_words words)
{
    static const uint64_t multiplier = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = (uint64_t)(uintptr_t)from ^ (uint64_t)words.entry << 32 ^
                   (uint64_t)TR_EVENT_PAYLOAD(words.exit) << 24;
    return key * multiplier >> 32 & table->mask;
}

const struct way *ways_find(const struct way_table *table, const struct fragment *from,
                            struct way_words words)
{
    for (uint64_t at = place_of(table, from, words);; at = (at + 1) & table->mask) {
        const struct way *way = table->slots[at];
        if (!way ||
            (way->from == from && way->words.entry == words.entry && way->words.exit == words.exit))
            return way;
    }
}

static void insert(struct way_table *table, const struct way *way)
{
    uint64_t at = place_of(table, way->from, way->words);
    while (table->slots[at])
        at = (at + 1) & table->mask;
    table->slots[at] = way;
}

static void grow(struct way_table *table)
{
    const struct way **before = table->slots;
    uint64_t size = table->mask + 1;
    table->slots = memory_allocate_zeroed(2 * size * sizeof *table->slots);
    table->mask = 2 * size - 1;
    for (uint64_t i = 0; i < size; i++)
        if (before[i])
            insert(table, before[i]);
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

const struct way *ways_add(struct way_table *table, const struct fragment *from,
                           const struct fragment *to, struct way_words words, unsigned exit)
{
    struct way found = {.from = from, .to = to, .words = words, .exit = (uint16_t)exit};
    found.instructions = fragment_instructions(from, 0, exit) - from->blocks[0].code->instructions +
                         to->blocks[0].code->instructions;
    struct way_run *runs = memory_allocate((exit + 2) * sizeof *runs);
    found.run_count = (uint16_t)find_runs(&found, runs);
    size_t size = found.run_count * sizeof *runs;
    struct way *way = arena_allocate(&table->memory, sizeof *way + size);
    *way = found;
    memcpy(way->runs, runs, size);
    free(runs);
    if (2 * ++table->count > table->mask)
        grow(table);
    insert(table, way);
    return way;
}
