/* Edges from one fragment to the next that were taken before: what each adds to the packets.
 *
 * In nearly all of a log a fragment is left for another one by an edge (`way`) that was taken before. What a word of the
 * log means follows from the words before it, so words are looked up without waiting for what the ones before them lead
 * to: in a hash table for each address space, whose places have what most edges add to the packets. Words that follow each
 * other again and again are looked up together: way_chains.h.
 *
 * For one thread of ours.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_WAYS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_WAYS_H

#include "engine/translator/transcode/way.h"

struct ways;
struct way_chains;

/* A place in the table. */
struct way_place {
    struct way_words words;
    struct way_run run;
};

struct way_table {
    struct way_place *places; /* open addressing; at most half full */
    uint64_t mask, count;
    double ticks_per_instruction; /* that new ways are thought to take */
    struct way_chains *chains;
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
    return key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

/* The run of `words`; NULL: not taken before. It lives until ways_close. */
static inline const struct pt_block_run *ways_find(const struct way_table *table,
                                                   struct way_words words)
{
    for (uint64_t at = ways_hash(words);; at++) {
        const struct way_place *place = &table->places[at & table->mask];
        if (place->words.word == words.word && place->words.before == words.before &&
            place->words.before_that == words.before_that)
            return &place->run.run;
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
