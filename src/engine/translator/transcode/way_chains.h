/* Chains: a few ways that follow each other again and again, taken as one.
 *
 * Loops make the same words follow each other in a log. Each way on its own costs a lookup, an estimate of its time and
 * a look at its bits; a chain of WAY_CHAIN words costs that once. Its run is made of the blocks of all its ways.
 *
 * For one address space, as struct way_table, which owns it.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_WAY_CHAINS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_WAY_CHAINS_H

#include "base/arena.h"
#include "base/array.h"
#include "engine/translator/transcode/way.h"

#include <string.h>

enum {
    WAY_CHAIN = 4, /* words */
    WAY_CHAIN_SIGHTINGS = 1 << 16,
};

/* Words of a log, and those that the meaning of the first depends on. */
struct way_chain_words {
    uint64_t
        before; /* struct way_words of the first word: before, in the upper half, and before_that */
    uint64_t words[WAY_CHAIN / 2];
};

struct way_chain {
    struct pt_run_parts parts;                  /* first */
    const struct pt_block_run *ways[WAY_CHAIN]; /* of each word */
    struct pt_run_part part[];
};

struct way_chain_place {
    struct way_chain_words words;
    struct way_run run;
    uint64_t : 64, : 64;
};

_Static_assert(sizeof(struct way_chain_place) == 64, "a place is a cache line");

struct way_chains {
    struct way_chain_place *places; /* open addressing, at most a quarter full; in `memory` */
    uint64_t mask, count;
    void *memory;
    /* Of void *: `memory` before the table grew, as in ways.c. */
    struct array left;
    struct arena chains; /* of struct way_chain */
    int credit;          /* way_chains_pay */
    /* Of words by hash, modulo 256; those of one hash are counted together. */
    uint8_t sightings[WAY_CHAIN_SIGHTINGS];
};

struct way_chains *way_chains_new(void);
void way_chains_free(struct way_chains *chains);

/* `words` has WAY_CHAIN words; `first` says what comes before them. */
static inline struct way_chain_words way_chain_words(struct way_words first, const uint32_t *words)
{
    struct way_chain_words key = {.before = (uint64_t)first.before << 32 | first.before_that};
    memcpy(key.words, words, sizeof key.words);
    return key;
}

static inline uint64_t way_chain_hash(const struct way_chain_words *words)
{
    uint64_t hash = words->before * UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < WAY_CHAIN / 2; i++)
        hash = (hash ^ words->words[i]) * UINT64_C(0xff51afd7ed558ccd);
    return hash >> 32;
}

/* The chain of `words`; NULL: it is not among the chains. It lives until way_chains_free. */
static inline const struct pt_block_run *way_chains_find(const struct way_chains *chains,
                                                         const struct way_chain_words *words)
{
    for (uint64_t at = way_chain_hash(words);; at++) {
        const struct way_chain_place *place = &chains->places[at & chains->mask];
        if (memcmp(&place->words, words, sizeof *words) == 0)
            return &place->run.run;
        if (!place->run.run.parts)
            return NULL;
    }
}

/* Whether to look for chains: where few are found it costs more than it saves, and is tried again after a while. */
static inline bool way_chains_pay(struct way_chains *chains)
{
    enum { TRIAL = 64 };
    if (chains->credit < 0 && ++chains->credit == 0)
        chains->credit = TRIAL;
    return chains->credit > 0;
}

/* A chain was looked for, and found or not. One in three pays. */
static inline void way_chains_count(struct way_chains *chains, bool found)
{
    enum { MOST = 4096, REST = 64 };
    if (found)
        chains->credit += chains->credit < MOST ? 2 : 0;
    else if (--chains->credit == 0)
        chains->credit = -REST;
}

/* The words have come, and `ways` are the runs of each. Makes a chain of them if they come often. */
void way_chains_see(struct way_chains *chains, const struct way_chain_words *words,
                    const struct pt_block_run *const ways[WAY_CHAIN]);

static inline bool way_is_chain(const struct pt_block_run *run)
{
    return way_run_of(run)->words > 1;
}

static inline const struct way_chain *way_chain_of(const struct pt_block_run *run)
{
    return (const struct way_chain *)(const void *)run->parts;
}

/* The last way of a chain; `run` itself if it is a way. */
const struct way *way_chain_last(const struct pt_block_run *run);

#endif
