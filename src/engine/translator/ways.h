/* Edges from one fragment to the next that were taken before: what each adds to the packets.
 *
 * In nearly all of a log a fragment is left for another one by an edge (`way`) that was taken before. Edges are found
 * by both fragments, in a hash table for each address space, and have all that the transcoder needs.
 *
 * For one thread of ours.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_WAYS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_WAYS_H

#include "engine/translator/fragments.h"

#include <stddef.h>

/* What the log has of an edge. */
struct way_words {
    uint32_t entry; /* of the fragment to which it leads */
    uint32_t exit;  /* TR_EXIT before it; 0: none */
};

/* Blocks of a way whose packets are known beforehand. */
struct way_run {
    uint16_t begin, end; /* the way's blocks from `begin` to before `end` */
    struct pt_block_run run;
};

/* From the first block of `from`, which has begun, to that of `to`, which begins. Its blocks are those of
 * `from` up to `exit`, by which it was left, and the first of `to`. */
struct way {
    const struct fragment *from, *to;
    struct way_words words;
    uint16_t exit;
    uint16_t run_count;    /* of them all blocks are part, in order */
    uint32_t instructions; /* of the blocks after the first */
    struct way_run runs[];
};

static inline struct pt_code_block *way_block(const struct way *way, unsigned index)
{
    return index <= way->exit ? way->from->blocks[index].code : way->to->blocks[0].code;
}

struct ways;
struct way_table; /* of one address space */

struct ways *ways_open(void);
void ways_close(struct ways *ways);

/* Those between fragments of the address space whose fragment table is `serial`. */
struct way_table *ways_table(struct ways *ways, uint32_t serial);

/* NULL: not taken before. */
const struct way *ways_find(const struct way_table *table, const struct fragment *from,
                            struct way_words words);

/* `from` was left by block `exit`. Lives until ways_close. */
const struct way *ways_add(struct way_table *table, const struct fragment *from,
                           const struct fragment *to, struct way_words words, unsigned exit);

#endif
