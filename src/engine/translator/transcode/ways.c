#include "engine/translator/transcode/ways.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/memory.h"
#include "engine/translator/transcode/pace.h"
#include "engine/translator/transcode/way_chains.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Of 32 bytes each. Small tables are kept emptier: they stay in the processor's cache all the same. */
enum { FIRST_PLACES = 1 << 10, ROOMY_PLACES = 1 << 16 };

struct known_ways {
    struct way_table table; /* first */
    uint32_t serial;
    struct arena memory;
    /* Of struct way_place *: before the table grew. Paths of other threads still point into them; together they are
     * smaller than the table. */
    struct array left;
    UT_hash_handle hh;
};

struct ways {
    struct known_ways *tables;
};

struct ways *ways_open(void)
{
    return memory_allocate_zeroed(sizeof(struct ways));
}

static void free_known(struct known_ways *known)
{
    for (size_t i = 0; i < known->left.count; i++)
        free(*(struct way_place **)array_at(&known->left, i));
    array_free(&known->left);
    arena_free(&known->memory);
    way_chains_free(known->table.chains);
    if (known->table.long_chains)
        way_chains_free(known->table.long_chains);
    free(known->table.places);
    free(known);
}

void ways_close(struct ways *ways)
{
    struct known_ways *known, *next;
    if (!ways)
        return;
    HASH_ITER(hh, ways->tables, known, next)
    {
        HASH_DEL(ways->tables, known);
        free_known(known);
    }
    free(ways);
}

void ways_forget(struct ways *ways, uint32_t serial)
{
    struct known_ways *known;
    HASH_FIND(hh, ways->tables, &serial, sizeof serial, known);
    if (!known)
        return;
    HASH_DEL(ways->tables, known);
    free_known(known);
}

static void make_places(struct way_table *table, uint64_t size)
{
    table->places = memory_allocate_zeroed(sizeof *table->places * size);
    table->mask = size - 1;
}

struct way_table *ways_table(struct ways *ways, uint32_t serial)
{
    struct known_ways *known;
    HASH_FIND(hh, ways->tables, &serial, sizeof serial, known);
    if (known)
        return &known->table;
    known = memory_allocate_zeroed(sizeof *known);
    known->serial = serial;
    known->left = array_of(sizeof(struct way_place *));
    known->table.ticks_per_instruction = 1;
    known->table.chains = way_chains_new(WAY_CHAIN, PACE_PRECISE);
    make_places(&known->table, FIRST_PLACES);
    HASH_ADD(hh, ways->tables, serial, sizeof known->serial, known);
    return &known->table;
}

struct way_chains *ways_long_chains(struct way_table *table)
{
    if (!table->long_chains)
        table->long_chains = way_chains_new(WAY_LONG_CHAIN, PACE_QUICK);
    return table->long_chains;
}

static struct known_ways *known_of(struct way_table *table)
{
    return (struct known_ways *)(void *)table;
}

static struct way_place *insert(struct way_table *table, const struct way_place *place)
{
    uint64_t at = way_key_hash(place->key);
    while (table->places[at & table->mask].key != 0)
        at++;
    table->places[at & table->mask] = *place;
    return &table->places[at & table->mask];
}

static bool is_full(const struct way_table *table)
{
    uint64_t size = table->mask + 1;
    return table->count >= (size < ROOMY_PLACES ? size / 4 : size / 2);
}

static void grow(struct way_table *table)
{
    struct way_place *before = table->places;
    uint64_t size = table->mask + 1;
    *(struct way_place **)array_add(&known_of(table)->left) = before;
    make_places(table, 2 * size);
    for (uint64_t i = 0; i < size; i++)
        if (before[i].key != 0)
            insert(table, &before[i]);
}

static const struct pt_block_run *add(struct way_table *table, const struct way_place *place)
{
    table->count++;
    if (is_full(table))
        grow(table);
    return &insert(table, place)->run.run;
}

const struct pt_block_run *ways_add_exit(struct way_table *table, struct way_words words)
{
    return add(table, &(struct way_place){.key = way_key(words), .run.words = 1});
}

/* The blocks of `way`; returns how many. */
static size_t list_blocks(const struct way *way, struct pt_code_block **blocks)
{
    size_t count = way->exit + 2u;
    for (unsigned i = 0; i < count; i++)
        blocks[i] = way_block(way, i);
    return count;
}

const struct pt_block_run *ways_add(struct way_table *table, const struct fragment *from,
                                    const struct fragment *to, struct way_words words,
                                    unsigned exit)
{
    struct way found = {.from = from, .to = to, .words = words, .exit = (uint16_t)exit};
    struct way_place place = {.key = way_key(words), .run.words = 1};
    struct pt_block_run *run = &place.run.run;
    if (fragment_instructions(from, 0, exit) + to->blocks[0].code->instructions >
        PT_RUN_INSTRUCTIONS)
        return NULL;
    struct pt_code_block **blocks = memory_allocate((exit + 2) * sizeof *blocks);
    uint64_t parts[PT_RUN_SIZE / sizeof(uint64_t)];
    found.parts.part = (void *)parts;
    size_t size = pt_block_run_make(run, &found.parts, blocks, list_blocks(&found, blocks));
    free(blocks);
    if (from->blocks[0].code->in_recursion || to->blocks[0].code->in_recursion)
        run->part_count = UINT8_MAX; /* the calls are to be stepped into */
    struct way *way = arena_allocate(&known_of(table)->memory, sizeof *way + size);
    *way = found;
    way->parts.part = way->part;
    memcpy(way->part, parts, size);
    run->parts = &way->parts;
    place.run.ticks = (float)(table->ticks_per_instruction * run->instructions);
    return add(table, &place);
}
