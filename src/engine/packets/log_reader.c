#include "engine/packets/log_reader.h"

#include <stdbool.h>
#include <string.h>

enum { ALIGNMENT = 16 };

/* Bytes before the string that ends a record of this kind; 0 for an unknown kind. `has_string`:
 * whether there is one. */
static size_t fixed_size(unsigned kind, bool *has_string)
{
    *has_string = true;
    switch (kind) {
    case LOGGED_MAPPING:
    case LOGGED_UNUSED:
        return offsetof(struct logged_mapping, path);
    case LOGGED_NAME:
        return offsetof(struct logged_name, name);
    case LOGGED_UNTRACED:
        return offsetof(struct logged_untraced, name);
    case LOGGED_FORK:
    case LOGGED_EXIT:
    case LOGGED_REAPED:
        *has_string = false;
        return sizeof(struct logged_fork);
    case LOGGED_HIT:
        *has_string = false;
        return sizeof(struct logged_hit);
    case LOGGED_KEPT:
        *has_string = false;
        return sizeof(struct logged_kept);
    case LOGGED_DEATH:
        *has_string = false;
        return sizeof(struct logged_death);
    default:
        return 0;
    }
}

static bool is_complete(const struct logged_record *record, size_t available)
{
    if (record->magic != LOGGED_MAGIC ||
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

const struct logged_record *log_reader_next(struct log_reader *reader)
{
    while (reader->offset + sizeof(struct logged_record) <= reader->size) {
        const struct logged_record *record =
            (const struct logged_record *)(reader->log + reader->offset);
        if (is_complete(record, reader->size - reader->offset)) {
            reader->offset += record->size;
            return record;
        }
        reader->offset += ALIGNMENT;
    }
    return NULL;
}
