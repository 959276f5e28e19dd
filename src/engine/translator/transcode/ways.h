/* Edges from one fragment to the next that were taken before: what each adds to the packets.
 *
 * In nearly all of a log a fragment is left for another one by an edge (`way`) that was taken before. What a word of the
 * log means follows from the words before it, so words are looked up without waiting for what the ones before them lead
 * to: in a hash table for each address space, whose places have what most edges add to the packets.
 *
 * For one thread of ours.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_WAYS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_WAYS_H

#include "engine/translator/transcode/fragments.h"
#include "packet/block_run.h"

#include <stddef.h>

/* A word of the log where it has its meaning. */
struct way_words {
    uint32_t word;        /* an entry; or a TR_EXIT, which is part of the way that comes next */
    uint32_t before;      /* the entry or TR_EXIT before it */
    uint32_t before_that; /* where that is a TR_EXIT: the entry before it; else 0 */
};

/* From the first block of `from`, which has begun, to that of `to`, which begins. Its blocks are those of
 * `from` up to `exit`, by which it was left, and the first of `to`. */
struct way {
    struct pt_run_parts parts; /* first */
    const struct fragment *from, *to;
    uint16_t exit;
    struct pt_run_part part[];
};

/* A place in the table. Of a TR_EXIT the run has nothing in it. */
struct way_place {
    struct way_words words;
    float ticks; /* that it takes, about: pace.h */
    struct pt_block_run run;
};

_Static_assert(sizeof(struct way_place) == 32, "a cache line has two places");

static inline const struct way *way_of(const struct pt_block_run *run)
{
    return (const struct way *)(const void *)run->parts;
}

static inline struct pt_code_block *way_block(const struct way *way, unsigned index)
{
    return index <= way->exit ? way->from->blocks[index].code : way->to->blocks[0].code;
}

struct ways;

struct way_table {
    struct way_place *places; /* open addressing; at most half full */
    uint64_t mask, count;
    unsigned shift; /* of a hash of 64 bits */
};

struct ways *ways_open(void);
void ways_close(struct ways *ways);

/* Those between fragments of the address space whose fragment table is `serial`. */
struct way_table *ways_table(struct ways *ways, uint32_t serial);

/* Before fragments_forget. */
void ways_forget(struct ways *ways, uint32_t serial);

static inline uint64_t ways_hash(struct way_words words)
{
    uint64_t key = ((uint64_t)words.word << 32 | words.before) ^ (uint64_t)words.before_that << 13;
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

/* The run of `words`; NULL: not taken before. It lives until ways_close. */
static inline const struct pt_block_run *ways_find(const struct way_table *table,
                                                   struct way_words words)
{
    for (uint64_t at = ways_hash(words) >> table->shift;; at = (at + 1) & table->mask) {
        const struct way_place *place = &table->places[at];
        if (place->words.word == words.word && place->words.before == words.before &&
            place->words.before_that == words.before_that)
            return &place->run;
        if (place->words.word == 0)
            return NULL;
    }
}

/* A way by which `from` was left, by block `exit`. NULL: it has too many instructions. */
const struct pt_block_run *ways_add(struct way_table *table, const struct fragment *from,
                                    const struct fragment *to, struct way_words words,
                                    unsigned exit);

/* A TR_EXIT that can follow `words.before`. */
const struct pt_block_run *ways_add_exit(struct way_table *table, struct way_words words);

#endif
