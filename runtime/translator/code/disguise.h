/* What hides the program's state at a place of a fragment's code: what has to be undone there so that the processor's registers are the
 * program's, and which of its instructions runs.
 *
 * Of code that does not change, that is found by translating it once more (translate.c). Other code may have changed by the time of a
 * fault in its fragment, or be compared with what it was only since then, and gives another fragment. So its fragments keep all their places,
 * in the cold part of their region. Under process->lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_DISGUISE_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_DISGUISE_H

#include "runtime/translator/code/cache.h"
#include "runtime/translator/code/superblock.h"

struct tr_disguise {
    uint64_t pc;
    unsigned block; /* of the superblock */
    /* r11 and the log pointer are exchanged: r11 is the program's, hot.log the log pointer */
    bool r11;
    uint16_t borrowed; /* of rcx and rdx, a bit each: those whose values are in memory alone */
    int scratch;       /* the register that is in hot.scratch, or -1 */
};

enum {
    TR_MOST_DISGUISES = 3 * HOT_PATH_INSTRUCTIONS + 2
}; /* an instruction has three places at most */

/* Those of a fragment, in the order of its code. */
struct tr_disguises {
    unsigned count;
    struct tr_kept_disguise {
        int32_t pc;      /* relative to the fragment's */
        uint16_t offset; /* where it begins, in the fragment's code */
        uint8_t block;
        uint8_t hidden; /* r11, rcx, rdx: a bit each; above them the scratch register + 1 */
    } all[TR_MOST_DISGUISES];
};

/* The processor's registers are `state`, and become the program's. */
void tr_disguise_undo(const struct tr_disguise *disguise, struct tr_hot *hot,
                      struct tr_state *state);

/* From `offset` of the code of the fragment at `pc` on. */
void tr_disguises_add(struct tr_disguises *disguises, uint64_t pc, uint64_t offset,
                      const struct tr_disguise *disguise);

/* Returns the offset in the region's cold part by which they are found; 0: no memory. */
uint32_t tr_disguises_keep(struct tr_region *region, const struct tr_disguises *disguises);

/* That at `offset` of the code of the fragment at `pc`. False: the program's state is whole before the first one. */
bool tr_disguise_find(const struct tr_region *region, uint32_t kept, uint64_t pc, uint64_t offset,
                      struct tr_disguise *disguise);

#endif
