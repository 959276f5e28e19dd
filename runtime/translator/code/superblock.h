/* A superblock before it is translated: which of the program's instructions a fragment is made of, and where it is
 * left.
 *
 * Without a route the path is chosen statically: forward conditional jumps are expected to fall through (compilers
 * lay code out so), direct jumps are followed, calls too while there is room, and returns from calls that were
 * followed. It ends at backward conditional jumps, indirect branches, system calls, loads of the stack pointer,
 * triggers, code already in it, and after SUPERBLOCK_INSTRUCTIONS. With a route, it follows the route, past indirect
 * branches too.
 *
 * The same bytes always give the same superblock: translate.c relies on it to find the state inside a fragment of code that does not
 * change.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_SUPERBLOCK_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_SUPERBLOCK_H

#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/decode.h"

enum {
    SUPERBLOCK_INSTRUCTIONS = 40,
    SUPERBLOCK_CALLS = 3,       /* calls that are followed within each other */
    SUPERBLOCK_CALL_LIMIT = 24, /* a call that comes later in the superblock ends it */
    /* Along a route. */
    HOT_PATH_INSTRUCTIONS = 96,
    HOT_PATH_BLOCKS = 40,
    HOT_PATH_CALLS = 8,
};

/* A path that was taken often (hot_path.h): the addresses at which its blocks began, relative to that of the first. */
struct tr_route {
    uint32_t count;
    int32_t starts[HOT_PATH_BLOCKS];
};

struct tr_item {
    struct tr_instruction decoded;
    uint64_t pc;
    uint8_t bytes[16];
    bool ends_block;
    uint8_t block; /* index */
};

struct tr_way {
    uint64_t start, end; /* addresses of the block: of its first byte; of the byte after its last */
    uint64_t target;     /* of its direct branch */
    uint8_t instructions, kind;     /* enum tr_block_end */
    bool loads_stack, copies_stack; /* TR_BLOCK_LOADS_STACK, TR_BLOCK_COPIES_STACK */
    bool taken;                     /* the path goes on at the target of its conditional branch */
    bool ambiguous;                 /* its side exit leads where another exit does, too */
    uint64_t expected; /* after a branch that is followed: where the path goes on; else 0 */
};

struct tr_superblock {
    uint64_t pc;
    unsigned item_count, block_count;
    uint64_t low, high; /* all its bytes lie in [low, high) */
    enum tr_code code;  /* where it begins */
    bool fixed;         /* all of it is in files that do not change */
    unsigned
        check_at; /* the first item before which the arithmetic flags are dead: written before they are read,
                            without a branch between; item_count: none */
    uint32_t return_places;
    bool needs_test; /* it has none, and could be part of a loop of such superblocks */
    /* Its first instruction is one of the trigger; one at which the recording ends; begins a function whose arguments are recorded (the index of the struct
     * tr_value_place plus 1, else 0); or is where calls return to that are timed, selected, or whose results are recorded. */
    bool hits_trigger, ends_recording, notes_start;
    uint16_t value_place;
    bool is_return_place;
    bool leaves; /* its only instruction is one that is not translated */
    struct tr_item items[HOT_PATH_INSTRUCTIONS];
    struct tr_way blocks[HOT_PATH_INSTRUCTIONS];
};

/* The runtime is asked each time it begins to run. */
static inline bool tr_superblock_asks(const struct tr_superblock *superblock)
{
    return superblock->hits_trigger || superblock->ends_recording || superblock->notes_start ||
           superblock->value_place || superblock->is_return_place;
}

/* The first address that has to be read so that a superblock can begin at `pc`, and is awaited (supplied_pages.h); 0: none. Under process->lock. */
uint64_t tr_superblock_awaits(struct tr_thread *thread, uint64_t pc);

/* `route` may be NULL. Of the places that timed calls return to (timed_calls.h) the first `return_places` are known.
 * False: nothing can be executed at `pc`. */
bool tr_superblock_form(struct tr_superblock *superblock, struct tr_thread *thread, uint64_t pc,
                        const struct tr_route *route, uint32_t return_places);

/* Its description for a fragment table (layout.h): how many bytes, and the bytes; `reserved` is left alone. */
uint64_t tr_superblock_description_size(const struct tr_superblock *superblock);
void tr_superblock_describe(const struct tr_superblock *superblock,
                            struct tr_fragment *description);

/* Why the instruction at `pc`, which only the runtime can execute, ends the tracing: for tr_give_up. */
const char *tr_why_untranslated(uint64_t pc);

#endif
