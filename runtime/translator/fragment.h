/* Fragments: translated superblocks, found by their address; linking them; taking them back.
 *
 * Under process->lock, but for lookups of the per-thread table by generated code. */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_FRAGMENT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_FRAGMENT_H

#include "runtime/translator/thread.h"

/* Takes back all fragments that were made from bytes in [start, end): a thread that reaches one of them later enters
 * the runtime instead. A thread that is inside one goes on to its exit. */
void tr_invalidate(struct tr_thread *thread, uint64_t start, uint64_t end);

/* The program's state at a cache address, at which the processor has the registers in `state` (state->pc is the cache
 * address). On success `state` is the program's. False when the address is not in the cache, or between two of the
 * program's instructions of which the first had begun (asynchronous signals only; faults of copied instructions are
 * always found). */
bool tr_find_state(struct tr_thread *thread, struct tr_state *state);

bool tr_in_cache(uint64_t address);

#endif
