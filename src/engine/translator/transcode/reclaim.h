/* Which of the arena's slots and fragment tables can be used again: there are far fewer than the processes that a
 * recording may follow.
 *
 * Called by transcoding.c while the program runs.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_RECLAIM_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_RECLAIM_H

#include "engine/translator/arena.h"

/* Whether its thread writes no more: it has said so, or its process is gone. Numbers of processes of other pid
 * namespaces mean nothing here: of them only the former counts. */
bool reclaim_has_ended(const struct translator_arena *arena, const struct tr_slot *slot);

/* Releases the tables of processes that are gone and to which neither a slot nor another table refers. Each is passed to
 * `forget` before. */
void reclaim_tables(struct translator_arena *arena, void (*forget)(void *context, uint32_t table),
                    void *context);

#endif
