/* The code of one process at the time that one stream of packets has reached.
 *
 * Answers the questions a decoder has about an address: which bytes, which branch, which function,
 * what else a block does. The answers are cached, because programs nearly always execute code that
 * they have executed before; any change of the address space empties the caches. Each decoder owns
 * its own.
 */
#ifndef MAGIC_TRACE_DECODE_PT_BLOCKS_CODE_SPACE_H
#define MAGIC_TRACE_DECODE_PT_BLOCKS_CODE_SPACE_H

#include "decode/pt/blocks/block_facts.h"
#include "decode/pt/blocks/branch.h"
#include "image/address_space.h"
#include "symbol/symbols.h"

struct code_space {
    const struct process *process; /* NULL: an unknown process, whose code is unknown, too */
    struct symbols *symbols;       /* borrowed, shared by all decoders */
    struct address_space_cursor cursor;
    const struct mapping *recent; /* the mapping of the last lookup; NULL after a change */
    uint64_t generation;          /* counts changes; caches hold answers of this generation only */
    struct inlined_place inlined; /* of the last question about one; empty after a change */
    struct code_space_function *functions; /* owned */
    struct code_space_branch *branches;    /* owned */
    struct block_facts *blocks;            /* owned; NULL until it is needed */
};

/* Sets up the space before the first change: it has no mappings until the first advance. */
void code_space_init(struct code_space *space, const struct process *process,
                     struct symbols *symbols);
void code_space_free(struct code_space *space);

/* How many of the process's changes have happened by `time`; at least as many as have been applied.
 * Stops at the first execve after `exec_until`, whatever its time: until then the code that runs is
 * that of the old program. */
size_t code_space_changes(const struct code_space *space, struct ticks time,
                          struct ticks exec_until);

/* Applies the first `count` of the process's changes. */
void code_space_advance(struct code_space *space, size_t count);

/* The mapping that holds `address`, or NULL; valid until the next advance. */
const struct mapping *code_space_mapping(struct code_space *space, uint64_t address);

/* The bytes at `address`, `known` of them, all in one mapping and its file. NULL if not found.
 * Valid as long as the process's files. */
const uint8_t *code_space_bytes(struct code_space *space, uint64_t address, size_t *known);

/* Copies at most `size` bytes of code at `address`, across adjacent mappings; returns how many were
 * known. */
size_t code_space_read(struct code_space *space, uint64_t address, uint8_t *bytes, size_t size);

struct function_bounds code_space_function(struct code_space *space, uint64_t address);

/* The inlined function at `address`, which is in a function with inlined ones. */
struct inlined_place code_space_inlined(struct code_space *space, uint64_t address);

/* Whether an event says so each time that a block begins at `address` of the function, from
 * wherever control comes: its code begins there, and what was inlined before is not known by the
 * kind of branch (flow_event.h). */
static inline bool inlined_place_is_announced(const struct inlined_place *place, uint64_t address,
                                              const struct function_bounds *function)
{
    return address == place->start &&
           (place->inlined != INLINED_NONE || address != function->start);
}

struct branch code_space_branch(struct code_space *space, uint64_t address, enum x86_mode mode);

/* What the 64-bit code from the instruction at `first` to the one at `last` does besides its
 * branch. Valid until the next call. */
const struct block_facts *code_space_block(struct code_space *space, uint64_t first, uint64_t last);

/* The 64-bit code of the function that leads to `address` without a branch: instructions to be executed before it if control did not
 * jump there. */
struct straight_way {
    uint64_t first, last;  /* addresses of instructions */
    uint64_t instructions; /* 0: there are none, or they are not known */
};
struct straight_way code_space_way_to(struct code_space *space, uint64_t address);

#endif
