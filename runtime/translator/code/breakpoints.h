/* INT3 in place of the first byte of each function that -only names, and for a while where suspended calls may go on (suspended_calls.h), so that
 * code which runs natively comes to the runtime there (selected_calls.h).
 *
 * Only in private mappings of files that are not writable: the changed page is the process's own copy. What the translator
 * reads, and what is compared with files, is the code without them (tr_breakpoints_hide). Whoever changes such a mapping, or goes on natively
 * for good, has them taken away first.
 *
 * Called by code_pages.c, superblock.c, maps.c, suspended_calls.c and the master handler. Under process->lock, but for tr_breakpoints_hide of code that no
 * thread changes meanwhile. fork copies them.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_BREAKPOINTS_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_BREAKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TR_BREAKPOINT = 0xcc }; /* INT3: SDM volume 2 */

struct tr_breakable {
    uint64_t start, end;         /* of a mapping, or a part of it */
    uint64_t inode, file_offset; /* of its file, as stat gives it; of `start` */
    uint8_t protection;          /* PROT_ flags */
};

/* Puts them at the selected functions of the file that lie in the mapping. */
void tr_breakpoints_insert(const struct tr_breakable *code);

/* Takes those in the range away: the code is as it was. */
void tr_breakpoints_remove(uint64_t start, uint64_t end);

bool tr_breakpoint_at(uint64_t address);

/* Puts one at `address`, which may lie in such a mapping's page of this protection, until all that were added are removed. */
void tr_breakpoint_add(uint64_t address, uint8_t protection);
void tr_breakpoints_remove_added(void);

/* Whether it is at a selected function. */
bool tr_breakpoint_is_selected(uint64_t address);

/* The first one of a selected function at or above `address`; 0: none. */
uint64_t tr_breakpoint_from(uint64_t address);

/* How many times some were inserted. May be read without the lock. */
uint32_t tr_breakpoint_changes(void);

/* Replaces those among `size` bytes that were read at `address` by what they stand for. */
void tr_breakpoints_hide(uint8_t *bytes, uint64_t address, size_t size);

#endif
