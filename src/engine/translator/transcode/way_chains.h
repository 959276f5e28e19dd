/* Chains: a few ways that follow each other again and again, taken as one.
 *
 * Loops make the same words follow each other in a log. Each way on its own costs a lookup, an estimate of its time and
 * a look at its bits; a chain of WAY_CHAIN words costs that once. Its run is made of the blocks of all its ways. One of
 * WAY_LONG_CHAIN words costs it a quarter as often, but times within it are less precise: for programs that wait.
 *
 * For one address space, as struct way_table, which owns them: those of one length each.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_WAY_CHAINS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_WAY_CHAINS_H

#include "base/arena.h"
#include "engine/translator/transcode/way.h"

#include <string.h>

enum {
    /* words, of the chains of struct way_chains */
    WAY_CHAIN = 4,
    WAY_LONG_CHAIN = 16,
    WAY_CHAIN_SIGHTINGS = 1 << 16,
    WAY_CHAIN_WORDS = 1 << 16, /* of all chains: most of them stay in a processor's caches */
    /* Places are allocated as chains are made: many programs are short, and have few. */
    WAY_CHAIN_BLOCK = 256,
    WAY_CHAIN_BLOCKS = WAY_CHAIN_WORDS / WAY_CHAIN / WAY_CHAIN_BLOCK,
};

/* Words of a log, as many as a chain has, and those that the meaning of the first depends on. */
struct way_chain_words {
    uint64_t
        before; /* struct way_words of the first word: before, in the upper half, and before_that */
    const uint32_t *words;
};

struct way_chain {
    struct pt_run_parts parts;        /* first */
    const struct pt_block_run **ways; /* of each word */
    struct pt_run_part part[];        /* and what belongs to them */
};

/* A chain that is known, at the beginning of a cache line. */
struct way_chain_place {
    struct way_run run;
    uint64_t before; /* of struct way_chain_words, as the words */
    uint32_t words[];
};

/* Of the table that finds them. It is small, so that words which are no chain are known from a processor's cache. */
struct way_chain_entry {
    uint32_t hash;
    uint32_t number; /* of the place, counted from 1; 0: none is here */
};

struct way_chains {
    unsigned length;                 /* words of each */
    float unevenness;                /* pace.h: that a chain may have */
    struct way_chain_entry *entries; /* open addressing; at most half full */
    uint64_t mask, count, most;
    uint8_t *
        places[WAY_CHAIN_BLOCKS]; /* of struct way_chain_place, WAY_CHAIN_BLOCK each; in `memory` */
    struct arena memory;          /* of the chains, too */
    int credit;                   /* way_chains_pay */
    /* Of words by hash, modulo 256; those of one hash are counted together. */
    uint8_t sightings[WAY_CHAIN_SIGHTINGS];
};

struct way_chains *way_chains_new(unsigned length, float unevenness);
void way_chains_free(struct way_chains *chains);

/* `words` are as many as a chain has; `first` says what comes before them. */
static inline struct way_chain_words way_chain_words(struct way_words first, const uint32_t *words)
{
    return (struct way_chain_words){(uint64_t)first.before << 32 | first.before_that, words};
}

static inline uint64_t way_chain_two_words(const uint32_t *words)
{
    uint64_t two;
    memcpy(&two, words, sizeof two);
    return two;
}

/* Of two halves, which need not wait for each other. */
static inline uint32_t way_chain_hash(const struct way_chain_words *key, unsigned length)
{
    const uint64_t factor = UINT64_C(0xff51afd7ed558ccd);
    uint64_t first = key->before * UINT64_C(0x9e3779b97f4a7c15), second = 0;
    for (unsigned i = 0; i < length; i += 4) {
        first = (first ^ way_chain_two_words(key->words + i)) * factor;
        second = (second ^ way_chain_two_words(key->words + i + 2)) * factor;
    }
    return (uint32_t)((first ^ second >> 32) * factor >> 32);
}

static inline size_t way_chain_place_size(unsigned length)
{
    enum { LINE = 64 };
    size_t size = sizeof(struct way_chain_place) + length * sizeof(uint32_t);
    return (size + LINE - 1) / LINE * LINE;
}

static inline struct way_chain_place *way_chain_place_at(const struct way_chains *chains,
                                                         uint32_t number, unsigned length)
{
    uint32_t index = number - 1;
    return (void *)(chains->places[index / WAY_CHAIN_BLOCK] +
                    index % WAY_CHAIN_BLOCK * way_chain_place_size(length));
}

/* The chain of `key`, whose hash is `hash`; NULL: it is not among the chains. It lives until way_chains_free. `length` is
 * that of `chains`: a constant, so that comparing is a few instructions. */
static inline const struct pt_block_run *way_chains_find(const struct way_chains *chains,
                                                         const struct way_chain_words *key,
                                                         uint32_t hash, unsigned length)
{
    for (uint64_t at = hash;; at++) {
        const struct way_chain_entry *entry = &chains->entries[at & chains->mask];
        if (entry->number == 0)
            return NULL;
        if (entry->hash != hash)
            continue;
        const struct way_chain_place *place = way_chain_place_at(chains, entry->number, length);
        if (place->before == key->before &&
            memcmp(place->words, key->words, length * sizeof *key->words) == 0)
            return &place->run.run;
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

/* A chain was looked for, and found or not. One in three pays, and two in three of long ones. */
static inline void way_chains_count(struct way_chains *chains, bool found, unsigned length)
{
    enum { MOST = 4096, REST = 1024 };
    int gain = length == WAY_CHAIN ? 2 : 1, loss = 3 - gain;
    if (found)
        chains->credit += chains->credit < MOST ? gain : 0;
    else if ((chains->credit -= loss) <= 0)
        chains->credit = -REST;
}

/* The words have come, and the `count` ways and shorter chains of `runs` are theirs. Makes a chain of them if they come often. */
void way_chains_see(struct way_chains *chains, const struct way_chain_words *key,
                    const struct pt_block_run *const *runs, size_t count);

static inline bool way_is_chain(const struct pt_block_run *run)
{
    return way_run_of(run)->words > 1;
}

static inline const struct way_chain *way_chain_of(const struct pt_block_run *run)
{
    return (const struct way_chain *)(const void *)run->parts;
}

/* The ways of a chain, or `*run` alone if it is a way; `*count` of them. */
static inline const struct pt_block_run *const *
way_chain_ways(const struct pt_block_run *const *run, size_t *count)
{
    *count = way_run_of(*run)->words;
    return way_is_chain(*run) ? way_chain_of(*run)->ways : run;
}

/* The last way of a chain; `run` itself if it is a way. */
const struct way *way_chain_last(const struct pt_block_run *run);

#endif
