/* Scans all spans of a range on all processors.
 *
 * The tracks' range is cut at the ends of chunks into parts, which are scanned on their own. A span
 * that overlaps several parts is counted in the first of them, and its time in each. So sums over
 * parts are those of the range.
 */
#ifndef MAGIC_TRACE_INDEX_SCAN_PARTS_H
#define MAGIC_TRACE_INDEX_SCAN_PARTS_H

#include "index/file/index_reader.h"

struct scan_part {
    uint32_t track;
    struct index_range range;
    bool is_first; /* of its track */
};

/* Whether the span, which overlaps the part, is counted in it. */
static inline bool part_counts(const struct scan_part *part, const struct index_span *span)
{
    return part->is_first || span->start >= part->range.from;
}

/* What is done with a part. `state` belongs to one thread: what scan_parts() got from begin(). */
struct part_scanner {
    void *context;
    void *(*begin)(void *context);
    bool (*scan)(void *state, const struct scan_part *part, struct error *error);
    /* Adds what the thread has found to the answer, and frees the state. One thread at a time, and
     * in any order; called also when a part could not be scanned. */
    void (*end)(void *context, void *state);
};

bool scan_parts(const struct trace_index *index, struct index_tracks tracks,
                struct index_range range, const struct part_scanner *scanner, struct error *error);

#endif
