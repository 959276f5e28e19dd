/* The records of a trace file, one after the other, and reading one with its bounds checked.
 *
 * Used by fxt_parser.c, which goes through a trace twice. A record lies in memory as a whole, valid
 * until the next is asked for. Large records, of which we know none, are passed over.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_FXT_RECORDS_H
#define MAGIC_TRACE_OUTPUT_FXT_FXT_RECORDS_H

#include "base/error.h"
#include "output/fxt/fxt_format.h"
#include "output/fxt/trace_input.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t fxt_load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

/* ------------------------------------------------------------------ one record */

/* What follows the header. */
struct fxt_record {
    uint64_t header;
    const uint8_t *at, *end; /* how far it has been read, and where it ends */
};

static inline bool fxt_take_word(struct fxt_record *record, uint64_t *word)
{
    if (record->end - record->at < FXT_WORD)
        return false;
    *word = fxt_load(record->at);
    record->at += FXT_WORD;
    return true;
}

/* `length` bytes, padded to whole words; NULL when they are not there. */
static inline const char *fxt_take_bytes(struct fxt_record *record, size_t length)
{
    size_t padded = fxt_words(length) * FXT_WORD;
    if ((size_t)(record->end - record->at) < padded)
        return NULL;
    const char *bytes = (const char *)record->at;
    record->at += padded;
    return bytes;
}

/* ------------------------------------------------------------------ all records */

struct fxt_records {
    struct trace_input *input;
    const uint8_t *begin, *next, *end; /* of what was looked at of the input */
};

/* Begins at what the input gives next. */
static inline struct fxt_records fxt_records_of(struct trace_input *input)
{
    struct trace_bytes bytes = trace_input_look(input, FXT_WORD);
    return (struct fxt_records){input, bytes.at, bytes.at, bytes.at + bytes.size};
}

/* fxt_records_next for a record that is not in memory yet, or is large. */
bool fxt_records_find(struct fxt_records *records, struct fxt_record *record, struct error *error);

/* False at the end of the trace, or at damage; error->code distinguishes the two. */
static inline bool fxt_records_next(struct fxt_records *records, struct fxt_record *record,
                                    struct error *error)
{
    size_t left = (size_t)(records->end - records->next);
    if (left < FXT_WORD)
        return fxt_records_find(records, record, error);
    const uint8_t *at = records->next;
    uint64_t header = fxt_load(at);
    size_t size = (size_t)fxt_bits(header, 4, 15) * FXT_WORD;
    if (fxt_bits(header, 0, 3) == FXT_RECORD_LARGE || size == 0 || size > left)
        return fxt_records_find(records, record, error);
    *record = (struct fxt_record){header, at + FXT_WORD, at + size};
    records->next = at + size;
    return true;
}

/* Reports that the last record is damaged, where it lies in the file, and `why`. Always false. */
bool fxt_records_damaged(const struct fxt_records *records, const struct fxt_record *record,
                         const char *why, struct error *error);

#endif
