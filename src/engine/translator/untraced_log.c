#include "engine/translator/untraced_log.h"

#include "engine/packets/sideband_layout.h"

#include <stddef.h>
#include <string.h>

enum { ALIGNMENT = 16 };

/* Where a record of `size` bytes is to be written; NULL when the log is full. */
static struct logged_record *reserve(struct translator_arena *arena, size_t size)
{
    const struct tr_geometry *geometry = &arena->geometry;
    uint64_t offset = atomic_fetch_add(&arena->control->log_tail, size);
    if (offset <= geometry->log_size && size <= geometry->log_size - offset &&
        offset % ALIGNMENT == 0)
        return (void *)(arena->bytes + geometry->log_offset + offset);
    atomic_fetch_add(&arena->control->lost_records, 1);
    return NULL;
}

void untraced_log_add(struct translator_arena *arena, uint32_t pid, const char *name,
                      const char *why)
{
    size_t name_size = strlen(name) + 1, why_size = strlen(why) + 1;
    size_t size = offsetof(struct logged_untraced, name) + name_size + why_size;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct logged_untraced *untraced = (void *)reserve(arena, size);
    if (!untraced)
        return;
    untraced->record.kind = LOGGED_UNTRACED;
    untraced->record.size = (uint32_t)size;
    untraced->record.pid = untraced->record.tid = pid;
    untraced->record.serial = UINT32_MAX;
    untraced->record.time = translator_arena_now(arena);
    untraced->reason = UNTRACED_FOREIGN;
    memcpy(untraced->name, name, name_size);
    memcpy(untraced->name + name_size, why, why_size);
    untraced->record.magic = LOGGED_MAGIC;
    atomic_store_explicit(&untraced->record.ready, 1, memory_order_release);
}
