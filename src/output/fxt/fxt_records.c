#include "output/fxt/fxt_records.h"

static bool damaged_at(const struct fxt_records *records, uint64_t offset, const char *why,
                       struct error *error)
{
    return error_set(error, ERROR_FORMAT,
                     "%s is damaged at byte %llu of the uncompressed trace: %s",
                     trace_input_path(records->input), (unsigned long long)offset, why);
}

static uint64_t offset_of(const struct fxt_records *records, const uint8_t *at)
{
    return trace_input_offset(records->input) + (uint64_t)(at - records->begin);
}

bool fxt_records_damaged(const struct fxt_records *records, const struct fxt_record *record,
                         const char *why, struct error *error)
{
    size_t size = (size_t)fxt_bits(record->header, 4, 15) * FXT_WORD;
    return damaged_at(records, offset_of(records, record->end - size), why, error);
}

/* Makes at least `least` bytes available from `next` on. False when the input ends before: that is
 * the end of the trace when all records were read and all spans are closed. */
static bool look(struct fxt_records *records, size_t least, bool within_record, struct error *error)
{
    if ((size_t)(records->end - records->next) >= least)
        return true;
    trace_input_advance(records->input, (size_t)(records->next - records->begin));
    struct trace_bytes bytes = trace_input_look(records->input, least);
    records->begin = records->next = bytes.at;
    records->end = bytes.at + bytes.size;
    if (bytes.size >= least)
        return true;
    *error = *trace_input_ended_by(records->input);
    if (error->code == ERROR_NONE && (bytes.size > 0 || within_record))
        damaged_at(records, trace_input_offset(records->input),
                   "the file ends in the middle of a record", error);
    return false;
}

static bool skip(struct fxt_records *records, uint64_t size, struct error *error)
{
    enum { STEP = 32 << 10 };
    for (uint64_t left = size; left > 0;) {
        size_t step = left < STEP ? (size_t)left : STEP;
        if (!look(records, step, true, error))
            return false;
        records->next += step;
        left -= step;
    }
    return true;
}

bool fxt_records_find(struct fxt_records *records, struct fxt_record *record, struct error *error)
{
    *error = (struct error){0};
    for (;;) {
        if (!look(records, FXT_WORD, false, error))
            return false;
        uint64_t header = fxt_load(records->next);
        bool large = fxt_bits(header, 0, 3) == FXT_RECORD_LARGE;
        uint64_t words = large ? fxt_bits(header, 4, 35) : fxt_bits(header, 4, 15);
        if (words == 0)
            return damaged_at(records, offset_of(records, records->next), "a record of size 0",
                              error);
        if (!large) {
            if (!look(records, (size_t)words * FXT_WORD, true, error))
                return false;
            return fxt_records_next(records, record, error);
        }
        if (!skip(records, words * FXT_WORD, error))
            return false;
    }
}
