#include "engine/translator/transcode/way_chains.h"

#include "base/memory.h"
#include "engine/translator/transcode/pace.h"

#include <stdlib.h>

enum {
    FIRST_PLACES = 1 << 10,
    FIRST_CREDIT = 1 << 16, /* lookups that may fail before there are chains */
    MOST_CHAINS = 1 << 14,  /* their places stay in a processor's second-level cache */
    MOST_BLOCKS = 256,      /* of a chain */
    /* Sightings after which words are made a chain; the second time, because estimates are better then. */
    OFTEN = 16,
    VERY_OFTEN = 128,
};

static void make_places(struct way_chains *chains, uint64_t count)
{
    size_t place = sizeof *chains->places;
    chains->memory = memory_allocate_zeroed((count + 1) * place);
    chains->places = memory_align(chains->memory, place);
    chains->mask = count - 1;
}

struct way_chains *way_chains_new(void)
{
    struct way_chains *chains = memory_allocate_zeroed(sizeof *chains);
    chains->left = array_of(sizeof(void *));
    chains->credit = FIRST_CREDIT;
    make_places(chains, FIRST_PLACES);
    return chains;
}

void way_chains_free(struct way_chains *chains)
{
    for (size_t i = 0; i < chains->left.count; i++)
        free(*(void **)array_at(&chains->left, i));
    array_free(&chains->left);
    arena_free(&chains->chains);
    free(chains->memory);
    free(chains);
}

static void insert(struct way_chains *chains, const struct way_chain_place *place)
{
    uint64_t at = way_chain_hash(&place->words);
    while (chains->places[at & chains->mask].run.run.parts)
        at++;
    chains->places[at & chains->mask] = *place;
}

static void grow(struct way_chains *chains)
{
    struct way_chain_place *before = chains->places;
    uint64_t size = chains->mask + 1;
    *(void **)array_add(&chains->left) = chains->memory;
    make_places(chains, 2 * size);
    for (uint64_t i = 0; i < size; i++)
        if (before[i].run.run.parts)
            insert(chains, &before[i]);
}

/* The blocks of all ways, of which each begins with the last one of the way before. Returns how many; 0: there are too many, or
 * a way has to be stepped into. */
static size_t list_blocks(const struct pt_block_run *const ways[WAY_CHAIN],
                          struct pt_code_block **blocks)
{
    size_t count = 0;
    for (int i = 0; i < WAY_CHAIN; i++) {
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
static bool is_even(const struct pt_block_run *const ways[WAY_CHAIN], struct pace_part *sum)
{
    *sum = pace_next_part(ways, WAY_CHAIN, PACE_PRECISE);
    return sum->count == WAY_CHAIN && sum->instructions <= PT_RUN_INSTRUCTIONS;
}

static void make(struct way_chains *chains, const struct way_chain_words *words,
                 const struct pt_block_run *const ways[WAY_CHAIN])
{
    struct pt_code_block *blocks[MOST_BLOCKS];
    struct pt_run_part part[PT_RUN_PARTS];
    struct pace_part sum;
    struct way_chain made = {.parts.part = part};
    struct way_chain_place place = {.words = *words, .run.words = WAY_CHAIN};
    size_t count = is_even(ways, &sum) ? list_blocks(ways, blocks) : 0;
    if (count == 0)
        return;
    size_t parts = pt_block_run_make(&place.run.run, &made.parts, blocks, count);
    if (parts == 0)
        return;
    struct way_chain *chain = arena_allocate(&chains->chains, sizeof *chain + parts * sizeof *part);
    *chain = made;
    memcpy(chain->ways, ways, sizeof chain->ways);
    memcpy(chain->part, part, parts * sizeof *part);
    chain->parts.part = chain->part;
    place.run.run.parts = &chain->parts;
    place.run.ticks = (float)sum.ticks;
    if (++chains->count > chains->mask / 4)
        grow(chains);
    insert(chains, &place);
}

void way_chains_see(struct way_chains *chains, const struct way_chain_words *words,
                    const struct pt_block_run *const ways[WAY_CHAIN])
{
    uint8_t sightings = ++chains->sightings[way_chain_hash(words) % WAY_CHAIN_SIGHTINGS];
    if ((sightings == OFTEN || sightings == VERY_OFTEN) && chains->count < MOST_CHAINS)
        make(chains, words, ways);
}

const struct way *way_chain_last(const struct pt_block_run *run)
{
    if (!way_is_chain(run))
        return way_of(run);
    const struct pt_block_run *const *ways = way_chain_of(run)->ways;
    int last = WAY_CHAIN - 1;
    return way_of(ways[last]->parts ? ways[last] : ways[last - 1]);
}
