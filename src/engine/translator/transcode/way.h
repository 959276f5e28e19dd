/* A way: an edge from one fragment to the next one that was entered, and what it adds to the packets.
 *
 * ways.h finds those of a log, way_chains.h makes chains of them, and pace.h has their times.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_WAY_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_WAY_H

#include "engine/translator/transcode/fragments.h"
#include "packet/block_run.h"

/* A word of the log where it has its meaning. */
struct way_words {
    uint32_t word;        /* an entry; or a TR_EXIT, which is part of the way that comes next */
    uint32_t before;      /* the entry or TR_EXIT before it */
    uint32_t before_that; /* where that is a TR_EXIT: the entry before it; else 0 */
};

/* What words stand for: the way that an entry completes, nothing (of a TR_EXIT), or a chain of ways. */
struct way_run {
    struct pt_block_run
        run; /* first; way_run_of has it. Of a way and a chain its parts are those of struct way, struct way_chain */
    float ticks;       /* that it takes, about: pace.h */
    uint16_t interval; /* pace.h: in which this was learned last */
    uint8_t words;     /* that it stands for: 1, or those of a chain */
};

/* From the first block of `from`, which has begun, to that of `to`, which begins. Its blocks are those of
 * `from` up to `exit`, by which it was left, and the first of `to`. */
struct way {
    struct pt_run_parts parts; /* first */
    const struct fragment *from, *to;
    struct way_words words;
    uint16_t exit;
    struct pt_run_part part[]; /* and what belongs to them */
};

static inline struct way_run *way_run_of(const struct pt_block_run *run)
{
    return (struct way_run *)(uintptr_t)run;
}

/* Not of a TR_EXIT or a chain. */
static inline const struct way *way_of(const struct pt_block_run *run)
{
    return (const struct way *)(const void *)run->parts;
}

static inline struct pt_code_block *way_block(const struct way *way, unsigned index)
{
    return index <= way->exit ? way->from->blocks[index].code : way->to->blocks[0].code;
}

#endif
