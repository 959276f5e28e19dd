#include "engine/translator/transcode/recorder_log.h"

#include "engine/packets/sideband_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 16 };

/* The file is sparse: on a full disk the first write to a page would kill the writer. */
static bool is_backed(const struct translator_arena *arena, uint8_t *start, size_t size)
{
    uint8_t *page = start - (uintptr_t)start % TR_PAGE;
    size += (size_t)(start - page);
    if (madvise(page, size, MADV_POPULATE_WRITE) == 0)
        return true;
    return errno == EINVAL && /* before Linux 5.14 */
           fallocate(arena->descriptor, 0, page - arena->bytes, (off_t)size) == 0;
}

/* Where a record of `size` bytes is to be written; NULL when the log is full. */
static struct logged_record *reserve(struct translator_arena *arena, size_t size)
{
    const struct tr_geometry *geometry = &arena->geometry;
    uint64_t offset = atomic_fetch_add(&arena->control->log_tail, size);
    uint8_t *record = arena->bytes + geometry->log_offset + offset;
    if (offset <= geometry->log_size && size <= geometry->log_size - offset &&
        offset % ALIGNMENT == 0 && is_backed(arena, record, size))
        return (void *)record;
    atomic_fetch_add(&arena->control->lost_records, 1);
    return NULL;
}

static size_t padded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void fill(struct logged_record *record, enum logged_kind kind, size_t size, uint32_t serial)
{
    record->kind = (uint16_t)kind;
    record->size = (uint32_t)size;
    record->serial = serial;
}

static void publish(struct logged_record *record)
{
    record->magic = LOGGED_MAGIC;
    atomic_store_explicit(&record->ready, 1, memory_order_release);
}

void recorder_log_untraced(struct translator_arena *arena, uint32_t pid, const char *name,
                           const char *why)
{
    size_t name_size = strlen(name) + 1, why_size = strlen(why) + 1;
    size_t size = padded(offsetof(struct logged_untraced, name) + name_size + why_size);
    struct logged_untraced *untraced = (void *)reserve(arena, size);
    if (!untraced)
        return;
    fill(&untraced->record, LOGGED_UNTRACED, size, UINT32_MAX);
    untraced->record.pid = untraced->record.tid = pid;
    untraced->record.time = translator_arena_now(arena);
    untraced->reason = UNTRACED_FOREIGN;
    memcpy(untraced->name, name, name_size);
    memcpy(untraced->name + name_size, why, why_size);
    publish(&untraced->record);
}

void recorder_log_kept(struct translator_arena *arena, uint32_t serial, uint64_t begin,
                       uint64_t end)
{
    size_t size = padded(sizeof(struct logged_kept));
    struct logged_kept *kept = (void *)reserve(arena, size);
    if (!kept)
        return;
    fill(&kept->record, LOGGED_KEPT, size, serial);
    kept->begin = begin;
    kept->end = end;
    publish(&kept->record);
}
