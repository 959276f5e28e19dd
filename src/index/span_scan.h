/* The spans of a track in a range, from the last to the first, callers before what they call.
 *
 *     struct span_scan scan = span_scan_begin(index, track, range);
 *     while ((count = span_scan_next(&scan, &spans, error)) > 0)
 *         for (size_t i = count; i-- > 0;)
 *             ... spans[i] ...
 *     ok = span_scan_end(&scan);
 *
 * Given are all that begin before the range's end and end at its beginning or later: those that
 * overlap it, and the callers of those which lie at its very beginning.
 */
#ifndef MAGIC_TRACE_INDEX_SPAN_SCAN_H
#define MAGIC_TRACE_INDEX_SPAN_SCAN_H

#include "base/array.h"
#include "index/file/index_reader.h"
#include "index/span_search.h"
#include "stack/spans/span.h"

struct span_scan {
    const struct trace_index *index;
    struct chunk_run run;
    struct index_range range;
    size_t first, next; /* chunks: next - 1 is the next to be read, down to first */
    /* Chunks without any of these are passed over. UINT32_MAX: not used; where neither is, all chunks are read. */
    uint32_t only_groups[2];
    bool began, failed;
    struct index_span *room; /* a chunk; owned */
    struct array crossing;   /* of struct index_span */
};

struct span_scan span_scan_begin(const struct trace_index *index, uint32_t track,
                                 struct index_range range);

/* The spans before those returned last, in the order of their ends; 0 when there are no more, or
 * they cannot be read. */
size_t span_scan_next(struct span_scan *scan, const struct index_span **spans, struct error *error);

/* Frees the scan; false when it has failed. */
bool span_scan_end(struct span_scan *scan);

static inline bool range_overlaps(struct index_range range, const struct index_span *span)
{
    return span->start < range.to &&
           (span->end > range.from || (span->start == span->end && span->start == range.from));
}

/* Time of the span in the range, which it overlaps. */
static inline uint64_t range_clip(struct index_range range, const struct index_span *span)
{
    uint64_t start = span->start > range.from ? span->start : range.from;
    uint64_t end = span->end < range.to ? span->end : range.to;
    return end > start ? end - start : 0;
}

/* Whether the call, which overlaps the range, lies in it with beginning and end seen. */
static inline bool is_whole_call(const struct index_span *span, struct index_range range)
{
    return span->start >= range.from && span->end <= range.to && !index_is_cut(span);
}

#endif
