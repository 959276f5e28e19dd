#include "engine/translator/transcode/log_cursor.h"

enum { WORD = sizeof(uint32_t) };

/* Longer than any log: a position beyond it was not written by the runtime. */
static const uint64_t last_position = UINT64_C(1) << 60;

void log_cursor_begin(struct log_cursor *cursor, const struct translator_arena *arena,
                      const struct tr_slot *slot, uint64_t position)
{
    *cursor = (struct log_cursor){
        .slot = slot,
        .ring = (const uint32_t *)((const uint8_t *)slot + TR_SLOT_RING),
        .size = arena->options.ring_size,
        .room = arena->options.ring_size,
        .position = position / WORD * WORD,
        .end = position / WORD * WORD,
    };
}

static void learn_room(struct log_cursor *cursor)
{
    uint64_t room = atomic_load(&cursor->slot->room) / WORD * WORD;
    if (room > 0 && room < cursor->room)
        cursor->room = room;
}

void log_cursor_extend(struct log_cursor *cursor)
{
    learn_room(cursor);
    uint64_t head = atomic_load_explicit(&cursor->slot->head, memory_order_acquire) / WORD * WORD;
    if (head > cursor->end && head < last_position)
        cursor->end = head;
    if (cursor->end < cursor->position) /* a TR_PAD led beyond what was written */
        cursor->end = cursor->position;
    if (cursor->end - cursor->position > cursor->size)
        cursor->end = cursor->position + cursor->size;
}

void log_cursor_limit(struct log_cursor *cursor, uint64_t bytes)
{
    if (cursor->end - cursor->position > bytes)
        cursor->end = cursor->position + bytes;
}

void log_cursor_extend_to_last_word(struct log_cursor *cursor)
{
    log_cursor_extend(cursor);
    cursor->end = cursor->position + cursor->size;
}

/* Where a record begins in chunk `index`, if that is in the ring while `head` is where its writer
 * is. */
static bool chunk_position(const struct log_cursor *cursor, unsigned index, uint64_t head,
                           uint64_t *position)
{
    *position = atomic_load_explicit(&cursor->slot->chunks[index].position, memory_order_acquire);
    /* A writer that was killed may have begun a chunk since it last set its head. */
    bool is_in_ring = *position <= head ? head - *position < cursor->size
                                        : *position - head <= cursor->size / TR_CHUNKS;
    return is_in_ring && *position % WORD == 0 && *position < last_position &&
           *position % cursor->size / (cursor->size / TR_CHUNKS) == index;
}

/* The first chunk at or after `from`. */
static bool first_chunk(const struct log_cursor *cursor, uint64_t from, uint64_t *first)
{
    uint64_t head = atomic_load_explicit(&cursor->slot->head, memory_order_acquire);
    bool found = false;
    for (unsigned i = 0; i < TR_CHUNKS; i++) {
        uint64_t position;
        if (chunk_position(cursor, i, head, &position) && position >= from &&
            (!found || position < *first)) {
            *first = position;
            found = true;
        }
    }
    return found;
}

bool log_cursor_begin_ring(struct log_cursor *cursor, const struct translator_arena *arena,
                           const struct tr_slot *slot)
{
    log_cursor_begin(cursor, arena, slot, 0);
    /* Of the oldest chunk the writer may have cleared the beginning, or all. */
    learn_room(cursor);
    for (uint64_t from = 0;; from = cursor->position + WORD) {
        if (!first_chunk(cursor, from, &cursor->position))
            return false;
        if ((cursor->position & (cursor->size - 1)) < cursor->room &&
            cursor->ring[(cursor->position & (cursor->size - 1)) / WORD] != 0)
            break;
    }
    cursor->end = cursor->position;
    log_cursor_extend_to_last_word(cursor);
    return true;
}

void log_cursor_skip(struct log_cursor *cursor)
{
    uint64_t position;
    bool found = first_chunk(cursor, cursor->position + WORD, &position);
    cursor->position = found && position < cursor->end ? position : cursor->end;
}

size_t log_cursor_words(const struct log_cursor *cursor, const uint32_t **words)
{
    if (cursor->position >= cursor->end)
        return 0;
    uint64_t place = cursor->position & (cursor->size - 1);
    uint64_t left = cursor->end - cursor->position,
             before_wrap = cursor->room > place ? cursor->room - place : 0;
    *words = &cursor->ring[place / WORD];
    return (left < before_wrap ? left : before_wrap) / WORD;
}

enum log_reading log_cursor_next(struct log_cursor *cursor, struct log_record *record)
{
    for (;;) {
        if (cursor->position >= cursor->end)
            return LOG_END;
        uint64_t place = cursor->position & (cursor->size - 1);
        if (place >= cursor->room) {
            cursor->position += cursor->size - place;
            continue;
        }
        uint32_t word = cursor->ring[place / WORD];
        if (word == 0) {
            uint64_t head = atomic_load_explicit(&cursor->slot->head, memory_order_relaxed);
            return cursor->position >= head ? LOG_END : LOG_DAMAGED;
        }
        *record = (struct log_record){.word = word, .payload = &cursor->ring[place / WORD + 1]};
        if (word < TR_EVENT) {
            cursor->position += WORD;
            return LOG_RECORD;
        }
        if (TR_EVENT_KIND(word) >= TR_EVENT_KINDS)
            return LOG_DAMAGED;
        if (TR_EVENT_KIND(word) == TR_PAD) {
            cursor->position += cursor->size - place;
            continue;
        }
        uint64_t size = WORD * (1 + (uint64_t)tr_payload_words(word));
        if (size > cursor->room - place)
            return LOG_DAMAGED;
        if (size > cursor->end - cursor->position)
            return LOG_END;
        cursor->position += size;
        return LOG_RECORD;
    }
}
