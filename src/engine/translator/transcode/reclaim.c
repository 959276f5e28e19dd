#include "engine/translator/transcode/reclaim.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>

/* `pid` as the process knows it itself. */
static bool is_gone(const struct translator_arena *arena, uint32_t pid)
{
    return !atomic_load(&arena->control->has_namespaces) && pid > 0 && pid <= INT_MAX &&
           kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

bool reclaim_has_ended(const struct translator_arena *arena, const struct tr_slot *slot)
{
    switch (atomic_load(&slot->ended)) {
    case TR_SLOT_ENDED:
    case TR_SLOT_LET_GO:
    case TR_SLOT_NO_SPACE:
    case TR_SLOT_CANNOT:
        return true;
    default:
        return is_gone(arena, slot->pid);
    }
}

/* By table: whether a slot or a child's table refers to it. */
static bool *find_needed(const struct translator_arena *arena)
{
    uint32_t count = arena->geometry.table_count;
    bool *needed = memory_allocate_zeroed(count * sizeof *needed);
    for (uint32_t i = 0; i < translator_arena_slots(arena); i++) {
        const struct tr_slot *slot = translator_arena_slot(arena, i, NULL);
        uint32_t table = slot ? atomic_load(&slot->table) : count;
        if (table < count)
            needed[table] = true;
    }
    for (uint32_t i = 0; i < translator_arena_tables(arena); i++) {
        const struct tr_table *table = translator_arena_table(arena, i, NULL);
        if (table && table->parent < count)
            needed[table->parent] = true;
    }
    return needed;
}

void reclaim_tables(struct translator_arena *arena, void (*forget)(void *context, uint32_t table),
                    void *context)
{
    /* Whoever is gone now refers to nothing new: its process is looked at before what refers to it. */
    uint32_t tables = translator_arena_tables(arena);
    bool *gone = memory_allocate_zeroed(tables * sizeof *gone + 1);
    for (uint32_t i = 0; i < tables; i++) {
        const struct tr_table *table = translator_arena_table(arena, i, NULL);
        gone[i] = table && is_gone(arena, atomic_load(&table->pid));
    }
    bool *needed = find_needed(arena);
    for (uint32_t i = 0; i < tables; i++) {
        if (!gone[i] || needed[i])
            continue;
        forget(context, i);
        translator_arena_release_table(arena, i);
    }
    free(needed);
    free(gone);
}
