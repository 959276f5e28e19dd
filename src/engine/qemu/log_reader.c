#include "engine/qemu/log_reader.h"

#include <stdbool.h>
#include <string.h>

enum { ALIGNMENT = 16 };

/* Bytes before the string that ends a record of this kind; 0 for an unknown kind. `has_string`
 * tells whether there is one. */
static size_t fixed_size(unsigned kind, bool *has_string)
{
    *has_string = true;
    switch (kind) {
    case QEMU_RECORD_MAPPING:
        return offsetof(struct qemu_mapping, path);
    case QEMU_RECORD_NAME:
        return offsetof(struct qemu_name, name);
    case QEMU_RECORD_UNTRACED:
        return offsetof(struct qemu_untraced, name);
    case QEMU_RECORD_FORK:
    case QEMU_RECORD_EXIT:
    case QEMU_RECORD_REAPED:
        *has_string = false;
        return sizeof(struct qemu_fork);
    case QEMU_RECORD_HIT:
        *has_string = false;
        return sizeof(struct qemu_hit);
    case QEMU_RECORD_KEPT:
        *has_string = false;
        return sizeof(struct qemu_kept);
    case QEMU_RECORD_DEATH:
        *has_string = false;
        return sizeof(struct qemu_death);
    default:
        return 0;
    }
}

static bool is_complete(const struct qemu_record *record, size_t available)
{
    if (record->magic != QEMU_RECORD_MAGIC ||
        atomic_load_explicit(&record->ready, memory_order_acquire) != 1)
        return false;
    if (record->size > available || record->size % ALIGNMENT != 0)
        return false;
    bool has_string;
    size_t fixed = fixed_size(record->kind, &has_string);
    if (fixed == 0 || record->size < fixed + has_string)
        return false;
    return !has_string || memchr((const char *)record + fixed, 0, record->size - fixed);
}

const struct qemu_record *log_reader_next(struct log_reader *reader)
{
    while (reader->offset + sizeof(struct qemu_record) <= reader->size) {
        const struct qemu_record *record =
            (const struct qemu_record *)(reader->log + reader->offset);
        if (is_complete(record, reader->size - reader->offset)) {
            reader->offset += record->size;
            return record;
        }
        reader->offset += ALIGNMENT;
    }
    return NULL;
}
