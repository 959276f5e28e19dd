/* Reads the records of one thread's log ring, in order.
 *
 * The ring may be written while it is read (full execution: what lies before `head`), may belong to
 * a killed thread (then what follows `head` is read as well, up to the first word that is 0), or
 * hold anything.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_LOG_CURSOR_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_LOG_CURSOR_H

#include "engine/translator/arena.h"

/* A record, in the ring. */
struct log_record {
    uint32_t word;           /* the first one */
    const uint32_t *payload; /* the others; valid until the ring is read_to or overwritten */
};

enum log_reading {
    LOG_RECORD,
    LOG_END,     /* nothing more was written (yet) */
    LOG_DAMAGED, /* what is there is no record: see log_cursor_skip */
};

struct log_cursor {
    const struct tr_slot *slot;
    const uint32_t *ring;
    uint64_t size;     /* of the ring, bytes */
    uint64_t room;     /* of these, in use: see struct tr_slot */
    uint64_t position; /* stream position of the next record */
    uint64_t end;      /* records at or after it are not read */
};

/* From `position` on, of a thread that may be writing: log_cursor_extend sets how far. */
void log_cursor_begin(struct log_cursor *cursor, const struct translator_arena *arena,
                      const struct tr_slot *slot, uint64_t position);

/* From the oldest record that the ring still holds, of a thread that writes no more. False: the
 * ring has no place that is known to begin a record. */
bool log_cursor_begin_ring(struct log_cursor *cursor, const struct translator_arena *arena,
                           const struct tr_slot *slot);

/* What was written by now can be read. */
void log_cursor_extend(struct log_cursor *cursor);

/* Of what can be read, only the next `bytes`, until log_cursor_extend; more than the largest record has. */
void log_cursor_limit(struct log_cursor *cursor, uint64_t bytes);

/* The thread writes no more: what it wrote after `head` can be read, too. */
void log_cursor_extend_to_last_word(struct log_cursor *cursor);

enum log_reading log_cursor_next(struct log_cursor *cursor, struct log_record *record);

/* How many words can be read up to the end of the ring; they lie at `*words`. They may be of any kind. */
size_t log_cursor_words(const struct log_cursor *cursor, const uint32_t **words);

/* Goes on with the next chunk that begins with a record, or at the end of what can be read. */
void log_cursor_skip(struct log_cursor *cursor);

/* The 64-bit value in payload words `index` and the next one. */
static inline uint64_t log_value(const struct log_record *record, unsigned index)
{
    return record->payload[index] | (uint64_t)record->payload[index + 1] << 32;
}

#endif
