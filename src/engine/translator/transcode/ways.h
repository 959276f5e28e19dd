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
    uint64_t key; /* of words; 0: none are here */
    struct way_run run;
};

_Static_assert(sizeof(struct way_place) == 32, "a cache line has two places");

struct way_table {
    struct way_place *places; /* open addressing; at most half full */
    uint64_t mask, count;
    double ticks_per_instruction; /* that new ways are thought to take */
    struct way_chains *chains;
    struct way_chains *long_chains; /* NULL: none were looked for */
};

struct ways *ways_open(void);
void ways_close(struct ways *ways);

/* Those between fragments of the address space whose fragment table is `serial`. */
struct way_table *ways_table(struct ways *ways, uint32_t serial);

/* Made when they are looked for first. */
struct way_chains *ways_long_chains(struct way_table *table);

/* Before fragments_forget. */
void ways_forget(struct ways *ways, uint32_t serial);

/* Those of words after a TR_EXIT, which may have the same one, are no others' keys. */
static inline uint64_t way_key(struct way_words words)
{
    uint32_t upper = words.word ^ words.before_that * UINT32_C(0x9e3779b1);
    return (uint64_t)upper << 32 | words.before;
}

static inline uint64_t way_key_hash(uint64_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static inline bool way_is_of(const struct pt_block_run *run, struct way_words words)
{
    return words.before_that == 0 || (way_of(run)->words.word == words.word &&
                                      way_of(run)->words.before_that == words.before_that);
}

/* The run of `words`; NULL: not taken before. It lives until ways_close. */
static inline const struct pt_block_run *ways_find(const struct way_table *table,
                                                   struct way_words words)
{
    uint64_t key = way_key(words);
    for (uint64_t at = way_key_hash(key);; at++) {
        const struct way_place *place = &table->places[at & table->mask];
        if (place->key == key && way_is_of(&place->run.run, words))
            return &place->run.run;
        if (place->key == 0)
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
