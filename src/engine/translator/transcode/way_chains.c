#include "engine/translator/transcode/way_chains.h"

#include "base/memory.h"
#include "engine/translator/transcode/pace.h"

#include <stdlib.h>

enum {
    LINE = 64, /* of a processor's cache */
    FIRST_ENTRIES = 1 << 10,
    FIRST_CREDIT = 1 << 16, /* lookups that may fail before there are chains */
    MOST_WORDS = 1 << 16, /* of all chains: their places stay in a processor's second-level cache */
    MOST_BLOCKS = 1024,   /* of a chain */
    /* Sightings after which words are made a chain; the second time, because estimates are better then. */
    OFTEN = 16,
    VERY_OFTEN = 128,
};

static void make_entries(struct way_chains *chains, uint64_t count)
{
    chains->entries = memory_allocate_zeroed(count * sizeof *chains->entries);
    chains->mask = count - 1;
}

struct way_chains *way_chains_new(unsigned length, float unevenness)
{
    struct way_chains *chains = memory_allocate_zeroed(sizeof *chains);
    chains->length = length;
    chains->unevenness = unevenness;
    chains->most = WAY_CHAIN_WORDS / length;
    chains->credit = FIRST_CREDIT;
    make_entries(chains, FIRST_ENTRIES);
    return chains;
}

void way_chains_free(struct way_chains *chains)
{
    arena_free(&chains->memory);
    free(chains->entries);
    free(chains);
}

static void enter(struct way_chains *chains, struct way_chain_entry entry)
{
    uint64_t at = entry.hash;
    while (chains->entries[at & chains->mask].number != 0)
        at++;
    chains->entries[at & chains->mask] = entry;
}

static void grow(struct way_chains *chains)
{
    struct way_chain_entry *before = chains->entries;
    uint64_t count = chains->mask + 1;
    make_entries(chains, 2 * count);
    for (uint64_t i = 0; i < count; i++)
        if (before[i].number != 0)
            enter(chains, before[i]);
    free(before);
}

/* Of chain `number`, the newest one. */
static struct way_chain_place *new_place(struct way_chains *chains, uint32_t number)
{
    uint8_t **block = &chains->places[(number - 1) / WAY_CHAIN_BLOCK];
    if (!*block) {
        size_t size = WAY_CHAIN_BLOCK * way_chain_place_size(chains->length);
        *block = memory_align(arena_allocate(&chains->memory, size + LINE), LINE);
    }
    return way_chain_place_at(chains, number, chains->length);
}

static void insert(struct way_chains *chains, const struct way_chain_words *key,
                   const struct way_run *run)
{
    if (++chains->count > chains->mask / 2)
        grow(chains);
    uint32_t number = (uint32_t)chains->count;
    struct way_chain_place *place = new_place(chains, number);
    place->run = *run;
    place->before = key->before;
    memcpy(place->words, key->words, chains->length * sizeof *key->words);
    enter(chains, (struct way_chain_entry){way_chain_hash(key, chains->length), number});
}

/* The blocks of all ways, of which each begins with the last one of the way before. Returns how many; 0: there are too many, or
 * a way has to be stepped into. */
static size_t list_blocks(const struct pt_block_run *const *ways, unsigned length,
                          struct pt_code_block **blocks)
{
    size_t count = 0;
    for (unsigned i = 0; i < length; i++) {
        if (!ways[i]->parts)
            continue;
        const struct way *way = way_of(ways[i]);
        if (ways[i]->part_count > PT_RUN_PARTS || count + way->exit + 2u > MOST_BLOCKS)
            return 0;
        if (count == 0)
            blocks[count++] = way_block(way, 0);
        for (unsigned block = 1; block <= way->exit + 1u; block++)
            blocks[count++] = way_block(way, block);
    }
    return count;
}

/* Whether the time of a chain can be spread evenly over its instructions; `*sum`: all its ways together. */
static bool is_even(const struct way_chains *chains, const struct pt_block_run *const *ways,
                    struct pace_part *sum)
{
    *sum = pace_next_part(ways, chains->length, chains->unevenness);
    return sum->count == chains->length && sum->instructions <= PT_RUN_INSTRUCTIONS;
}

/* Makes a chain; `*run` becomes its run. Returns whether that is possible. */
static bool make(struct way_chains *chains, const struct pt_block_run *const *ways,
                 struct way_run *run)
{
    struct pt_code_block *blocks[MOST_BLOCKS];
    uint64_t parts[PT_RUN_SIZE / sizeof(uint64_t)];
    struct pace_part sum;
    struct way_chain made = {.parts.part = (void *)parts};
    size_t count = is_even(chains, ways, &sum) ? list_blocks(ways, chains->length, blocks) : 0;
    *run = (struct way_run){.words = (uint8_t)chains->length};
    size_t size = count > 0 ? pt_block_run_make(&run->run, &made.parts, blocks, count) : 0;
    if (size == 0)
        return false;
    size_t ways_size = chains->length * sizeof *made.ways;
    struct way_chain *chain = arena_allocate(&chains->memory, sizeof *chain + size);
    made.ways = arena_allocate(&chains->memory, ways_size);
    memcpy(made.ways, ways, ways_size);
    *chain = made;
    memcpy(chain->part, parts, size);
    chain->parts.part = chain->part;
    run->run.parts = &chain->parts;
    run->ticks = (float)sum.ticks;
    return true;
}

/* Without shorter chains. */
static void list_ways(const struct pt_block_run *const *runs, size_t count,
                      const struct pt_block_run **ways)
{
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const struct pt_block_run *const *of_run = way_chain_ways(runs + i, &length);
        memcpy(ways, of_run, length * sizeof *ways);
        ways += length;
    }
}

static void add(struct way_chains *chains, const struct way_chain_words *key,
                const struct pt_block_run *const *runs, size_t count)
{
    const struct pt_block_run *ways[WAY_LONG_CHAIN];
    struct way_run run;
    list_ways(runs, count, ways);
    if (make(chains, ways, &run))
        insert(chains, key, &run);
}

void way_chains_see(struct way_chains *chains, const struct way_chain_words *key,
                    const struct pt_block_run *const *runs, size_t count)
{
    uint64_t hash = way_chain_hash(key, chains->length);
    uint8_t sightings = ++chains->sightings[hash % WAY_CHAIN_SIGHTINGS];
    if ((sightings == OFTEN || sightings == VERY_OFTEN) && chains->count < chains->most)
        add(chains, key, runs, count);
}

const struct way *way_chain_last(const struct pt_block_run *run)
{
    size_t count;
    const struct pt_block_run *const *ways = way_chain_ways(&run, &count);
    return way_of(ways[count - 1]->parts ? ways[count - 1] : ways[count - 2]);
}
