/* Fragments: translated superblocks, found by their address; linking them; taking them back.
 *
 * Under process->lock, but for lookups of the per-thread table by generated code. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_FRAGMENT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_FRAGMENT_H

#include "runtime/translator/thread.h"

struct tr_emitter;     /* emit.h */
struct tr_region;      /* cache.h */
struct tr_translation; /* translation.h */

/* Takes back all fragments that were made from bytes in [start, end): a thread that reaches one of them later enters
 * the runtime instead. A thread that is inside one goes on to its exit. */
void tr_invalidate(struct tr_thread *thread, uint64_t start, uint64_t end);

/* The program's state at a cache address, at which the processor has the registers in `state` (state->pc is the cache
 * address). On success `state` is the program's, and `*block` the block of the fragment that the address belongs to: a hot
 * path may have the same code in several. False when the address is not in the cache, or between two of the
 * program's instructions of which the first had begun (asynchronous signals only; faults of copied instructions are
 * always found). */
bool tr_find_state(struct tr_thread *thread, struct tr_state *state, unsigned *block);

/* Whether the fragment that the cache address lies in was made from bytes in [start, end). */
bool tr_fragment_at_is_of(uint64_t address, uint64_t start, uint64_t end);

bool tr_in_cache(uint64_t address);

struct tr_translation *tr_fragment_find(uint64_t pc);
/* Adds one, with room for its description. NULL: no memory. */
struct tr_translation *tr_fragment_add(void);
/* It has code from [start, end): tr_invalidate finds it there. False: no memory. */
bool tr_fragment_made_from(const struct tr_translation *translation, uint64_t start, uint64_t end);
void tr_fragment_publish(struct tr_translation *translation);
uint64_t tr_fragment_body(const struct tr_translation *translation);
/* Where code that has checked the target already goes on: its log entry; made if it is missing. 0: no memory. */
uint64_t tr_fragment_indirect_body(struct tr_translation *translation);
uint64_t tr_fragment_indirect_entry(struct tr_translation *translation);
/* Writes one, up to and with its log entry: see struct tr_translation. */
void tr_emit_indirect_entry(struct tr_emitter *emitter, uint64_t pc, uint32_t identifier);
/* The pc of a fragment by its identifier. */
uint64_t tr_fragment_pc(uint32_t identifier);
/* Its description, and the translation that it belongs to. */
const struct tr_fragment *tr_fragment_description(uint32_t identifier);
struct tr_translation *tr_fragment_translation(uint32_t identifier);
/* `newer` was made for the same address and published: entries into `older` lead to it from now on. */
void tr_fragment_replace(struct tr_translation *older, struct tr_translation *newer);
/* Room for a description of `size` bytes, a multiple of 8, at the end of the newest table. NULL: no room. */
struct tr_fragment *tr_fragment_reserve_description(uint64_t size);
/* That one is complete and describes `translation`, which gets its identifier. */
void tr_fragment_add_description(struct tr_translation *translation,
                                 struct tr_fragment *description);
/* False: no memory. */
bool tr_fragments_begin(struct tr_process *process, uint32_t table);
/* Before fork, in the parent, makes the child's table, which refers to the parent's: that is not used again then, even
 * when the parent ends before the child runs. False: no disk space, or too many ancestors. */
bool tr_fragments_before_fork(struct tr_process *process, uint32_t table);
void tr_fragments_after_failed_fork(struct tr_process *process, uint32_t table);
/* After fork, in the child: descriptions go to its own table. */
void tr_fragments_forked(struct tr_process *process, uint32_t table);

/* Changes the 4-byte displacement at `address` so that it leads to `target`, by way of a jump in the cold part where
 * that is too far. */
void tr_link(struct tr_region *region, uint64_t address, uint64_t target);

#endif
