/* An arena as the runtime leaves it, made by tests: fragments of real code in this process, and logs
 * written word by word. */
#ifndef MADE_ARENA_H
#define MADE_ARENA_H

#include "engine/engine.h"
#include "engine/translator/arena.h"

#include <stddef.h>

enum { MADE_RING = 64 << 10, MADE_PID = 1 << 23 }; /* a number that no process has */

struct made_arena {
    struct translator_arena arena;
    char directory[64];
    struct tr_table *table; /* that fragments are added to */
    struct tr_slot *slot;   /* that is written to */
    uint64_t position;
};

/* With one table and one slot. `options` may be NULL. */
void made_arena_open(struct made_arena *made, const struct tr_options *options);
void made_arena_close(struct made_arena *made);

/* A table, as after fork, and what is added from now on goes into it. */
uint32_t made_table(struct made_arena *made, uint32_t parent, uint32_t first);

/* A fragment of `count` blocks, which begin at `starts` and end with their first branch, system call
 * or load of the stack pointer, or after `longest` instructions (0: no limit). Returns its identifier.
 */
uint32_t made_fragment(struct made_arena *made, const uint64_t *starts, unsigned count,
                       unsigned longest);

/* Where the block at `pc` ends, how, and where its branch leads. */
struct made_block {
    uint64_t end, target;
    uint64_t last; /* its last instruction */
    enum tr_block_end kind;
    unsigned instructions;
    bool loads_stack;
    uint8_t lengths[64];
};
struct made_block made_block_at(uint64_t pc, unsigned longest);

/* Appends to the sideband log a record of `size` bytes, whose head's kind, pid, tid and time are set, and a
 * text; NULL: none. */
void made_record(struct made_arena *made, const void *record, size_t size, const char *text);

/* A record of a dump of the page, the `number`th in the dump area; older fragments than `next_fragment` are older. Returns its bytes,
 * TR_PAGE and CODE_IMAGE_TAIL, to be filled. */
uint8_t *made_dump(struct made_arena *made, uint64_t time, unsigned number, uint64_t page,
                   uint32_t next_fragment);

/* Slot number 1, 2 ... of another thread; what is logged from now on is its. */
void made_slot(struct made_arena *made);

/* Appends to the log. */
void made_word(struct made_arena *made, uint32_t word);
void made_entry(struct made_arena *made, uint32_t identifier, bool indirect);
void made_event(struct made_arena *made, enum tr_event kind, uint32_t payload,
                const uint64_t *values, unsigned count);

#define MADE_EVENT(made, kind, payload, ...)                                                       \
    made_event(made, kind, payload, (const uint64_t[]){__VA_ARGS__},                               \
               sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

#endif
