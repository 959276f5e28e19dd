/* Reads values from untrusted bytes, one after the other.
 *
 * Private to recording/perf_data. Reading past the end gives zeros and sets `overrun`, so that a
 * whole record can be read and checked once, at the end. Values need not be aligned.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_BYTE_CURSOR_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_BYTE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_cursor {
    const uint8_t *next;
    const uint8_t *end;
    bool overrun; /* a read went past the end */
};

static inline size_t cursor_left(const struct byte_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->next);
}

static inline void cursor_take(struct byte_cursor *cursor, void *value, size_t size)
{
    if (size > cursor_left(cursor)) {
        cursor->overrun = true;
        cursor->next = cursor->end;
        memset(value, 0, size);
        return;
    }
    memcpy(value, cursor->next, size);
    cursor->next += size;
}

static inline uint32_t cursor_take_u32(struct byte_cursor *cursor)
{
    uint32_t value;
    cursor_take(cursor, &value, sizeof value);
    return value;
}

static inline uint64_t cursor_take_u64(struct byte_cursor *cursor)
{
    uint64_t value;
    cursor_take(cursor, &value, sizeof value);
    return value;
}

/* The NUL-terminated string that starts here, not copied; "" and an overrun when no NUL follows. */
static inline const char *cursor_take_string(struct byte_cursor *cursor)
{
    const char *string = (const char *)cursor->next;
    const uint8_t *nul = cursor_left(cursor) ? memchr(cursor->next, 0, cursor_left(cursor)) : NULL;
    if (!nul) {
        cursor->overrun = true;
        cursor->next = cursor->end;
        return "";
    }
    cursor->next = nul + 1;
    return string;
}

#endif
