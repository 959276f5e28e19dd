/* Fragments as the transcoder needs them: identifier -> blocks that the packet encoder takes.
 *
 * A fragment's description (struct tr_fragment) is read and checked when its identifier is first met, and its blocks
 * stay for all threads and processes that run it: identifiers below a table's `first` are those of the parent's
 * table. The runtime never changes a description; one that makes no sense is refused with its place in the arena.
 *
 * For one thread of ours.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_FRAGMENTS_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_FRAGMENTS_H

#include "engine/translator/arena.h"
#include "packet/encoder.h"

/* A block of a fragment's path. */
struct fragment_block {
    struct pt_code_block *code;
    /* Where its branch leads when it does not lead to the next block: the other side of a conditional; PT_NOWHERE:
     * it is not known beforehand. */
    uint64_t side;
    uint32_t before; /* instructions in the blocks before it */
};

struct fragment {
    uint64_t pc;
    uint32_t identifier;
    uint32_t instructions; /* in all its blocks */
    uint16_t block_count;  /* at least 1 */
    bool loads_stack;      /* one of its blocks ends with a load of the stack pointer */
    struct fragment_block blocks[];
};

struct fragments;

struct fragments *fragments_open(const struct translator_arena *arena);
void fragments_close(struct fragments *fragments);

/* The table `serial` will be another process's: its fragments are gone. */
void fragments_forget(struct fragments *fragments, uint32_t serial);

/* In the address space whose table is `serial`. It lives until fragments_forget. NULL: none,
 * or it is damaged: `error` says why, without the arena's name. */
const struct fragment *fragments_get(struct fragments *fragments, uint32_t serial,
                                     uint32_t identifier, struct error *error);

/* All that were asked for and found, of the table `serial`. False: it was forgotten, or never asked. */
bool fragments_walk(const struct fragments *fragments, uint32_t serial,
                    void (*handle)(void *context, const struct fragment *fragment), void *context);

/* Instructions of blocks `first` to `last`. */
static inline uint32_t fragment_instructions(const struct fragment *fragment, unsigned first,
                                             unsigned last)
{
    uint32_t end = last + 1u < fragment->block_count ? fragment->blocks[last + 1].before
                                                     : fragment->instructions;
    return end - fragment->blocks[first].before;
}

#endif
