/* Translations: the fragments of the code cache as the runtime keeps them; made by translate.c, found, linked and
 * taken back by fragment.c.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_TRANSLATION_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_TRANSLATION_H

#include "runtime/translator/code/cache.h"

struct tr_route; /* superblock.h */

/* A fragment in the cache. Its code begins (at an address that is a multiple of 8) with the log entry:
 *
 *     mov dword [r11], identifier << 1
 *     lea r11, [r11 + 4]                  TR_ENTRY_SIZE bytes from its beginning
 *     ... the program's instructions
 *     cmp r11, gs:[limit] ; ja ...        between them, where the flags are dead (superblock.c: find_check)
 *
 * An indirect branch enters through a place before it, or in the cold part when it was made without one:
 *
 *     movabs rcx, -pc ; lea rcx, [rcx + rdx] ; jrcxz hit ; jmp gs:[leave_indirect]
 *     hit: rdx and rcx get their values back
 *     mov dword [r11], identifier << 1 | TR_INDIRECT ; jmp to what follows the log entry
 */
struct tr_translation {
    uint64_t pc;
    uint32_t identifier;
    uint32_t code; /* offset in the region's hot part */
    uint32_t
        indirect; /* offset from the hot part's beginning of the entry for indirect branches; 0: none yet */
    uint32_t low, high; /* the bytes that it was made from lie in [pc - low, pc + high) */
    /* offset in the cold part of its struct tr_route; 0: it was formed without one */
    uint32_t route;
    uint32_t disguises; /* offset in the cold part, disguise.h; 0: of code that does not change */
    uint32_t return_places; /* timed_calls.h: known when it was formed */
    uint16_t code_size;
    uint16_t value_place; /* as of struct tr_superblock, like the three bits */
    uint8_t region;
    uint8_t check_block; /* where its comparison with the limit is */
    uint8_t hits_trigger : 1;
    uint8_t ends_recording : 1;
    uint8_t notes_start : 1; /* of the time that the program passes with hits */
    uint8_t is_return_place : 1;
    uint8_t valid : 1;
    uint8_t considered : 1; /* hot_path.c has looked for a route from here */
    uint8_t compares : 1;   /* its own bytes, whenever it runs (TR_CODE_CHANGING) */
};

enum {
    TR_ENTRY_SIZE = 7,
    /* of the entry for indirect branches: offset of its log entry from its beginning */
    TR_INDIRECT_BODY = 48,
};

/* An exit that is not linked: what follows the jump to the runtime in the cold part. */
struct tr_exit {
    uint64_t target; /* address of the program */
    /* name of the 4-byte displacement to change (tr_cold_name's region, offset from its hot part's beginning,
     * which may lie in the cold part); 0: none */
    uint32_t patch;
    uint32_t kind; /* enum tr_exit_kind */
};

enum tr_exit_kind {
    TR_EXIT_DIRECT,
    TR_EXIT_INDIRECT,    /* the target is entered by an indirect branch */
    TR_EXIT_TRAP,        /* the instruction at the target raises a signal where it stands */
    TR_EXIT_UNSUPPORTED, /* the instruction at the target does what the translator does not follow */
};

/* hot.exit at tr_leave_run: where gs:[run] was 0, or why else. */
enum { TR_RUN_AT_HEAD, TR_RUN_AT_END, TR_RUN_CODE_CHANGED };

/* An indirect branch's inline guard. The constant is minus the address that is expected; it and `enable` change once,
 * when the branch first runs. */
struct tr_guard {
    uint64_t constant;
    uint64_t enable; /* the 8 bytes of code that replace the jump at `site` */
    uint64_t site;   /* address of those 8 bytes */
    /* address of the displacement of the jump that is taken when the guard matches */
    uint64_t patch;
    uint64_t target_expected; /* the address that it was set to; 0: not yet */
};

/* Makes the fragment that begins at `pc`, along `route` unless that is NULL; `indirect`: with an entry for indirect
 * branches. NULL: nothing can be executed there (`*nothing`), or no memory. */
struct tr_translation *tr_translate(struct tr_thread *thread, uint64_t pc,
                                    const struct tr_route *route, bool indirect, bool *nothing);

/* The state of the program at `offset` in the translation's code, and the block: as tr_find_state. */
bool tr_translate_state(struct tr_thread *thread, const struct tr_translation *translation,
                        uint32_t offset, struct tr_state *state, unsigned *block);

#endif
