#include "index/span_scan.h"

#include "base/memory.h"

#include <stdlib.h>

struct span_scan span_scan_begin(const struct trace_index *index, uint32_t track,
                                 struct index_range range)
{
    struct span_scan scan = {
        .index = index,
        .run = index_spans_of(index, track),
        .range = range,
        .only_groups = {UINT32_MAX, UINT32_MAX},
        .room = memory_allocate(INDEX_CHUNK_ITEMS * sizeof(struct index_span)),
        .crossing = array_of(sizeof(struct index_span)),
    };
    if (range.from >= range.to)
        return scan;
    scan.first = chunk_run_find(&scan.run, range.from);
    scan.next = chunk_run_find(&scan.run, range.to);
    scan.next += scan.next < scan.run.count;
    return scan;
}

/* A span that begins in the range and ends after its last chunk is active at that chunk's end. */
static bool read_crossing(struct span_scan *scan)
{
    struct crossing_walk walk = crossing_walk_begin(scan->index, &scan->run, scan->next - 1);
    for (struct index_span span; crossing_walk_next(&walk, &span);)
        if (span.start < scan->range.to)
            array_add_all(&scan->crossing, &span, 1);
    return !walk.damaged;
}

/* Narrows a chunk to the spans of the range; returns their number. Others are only at its ends. */
static size_t narrow(struct span_scan *scan, size_t chunk, const struct index_span **spans)
{
    size_t count = scan->run.chunks[chunk].count, first = 0;
    if (scan->run.chunks[chunk].last_end >= scan->range.to) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (scan->room[i].start < scan->range.to)
                scan->room[kept++] = scan->room[i];
        count = kept;
    }
    while (first < count && scan->room[first].end < scan->range.from)
        first++;
    *spans = scan->room + first;
    return count - first;
}

static bool is_passed_over(const struct span_scan *scan, size_t chunk)
{
    bool is_chosen = false;
    for (size_t i = 0; i < sizeof scan->only_groups / sizeof *scan->only_groups; i++) {
        if (scan->only_groups[i] == UINT32_MAX)
            continue;
        if (index_may_hold(scan->index, &scan->run, chunk, scan->only_groups[i]))
            return false;
        is_chosen = true;
    }
    return is_chosen;
}

size_t span_scan_next(struct span_scan *scan, const struct index_span **spans, struct error *error)
{
    if (!scan->began && scan->next > scan->first) {
        scan->began = true;
        if (!read_crossing(scan)) {
            scan->failed = !index_damaged(scan->index, error);
            return 0;
        }
        *spans = scan->crossing.elements;
        if (scan->crossing.count > 0)
            return scan->crossing.count;
    }
    while (scan->next > scan->first && !scan->failed) {
        size_t chunk = --scan->next;
        if (is_passed_over(scan, chunk))
            continue;
        scan->failed = !index_read_spans(scan->index, &scan->run, chunk, scan->room, error);
        size_t count = scan->failed ? 0 : narrow(scan, chunk, spans);
        if (count > 0)
            return count;
    }
    return 0;
}

bool span_scan_end(struct span_scan *scan)
{
    enum { MANY_CHUNKS = 16 };
    size_t last = chunk_run_find(&scan->run, scan->range.to);
    if (last > scan->next + MANY_CHUNKS)
        index_forget_chunks(scan->index, &scan->run, scan->next, last);
    free(scan->room);
    array_free(&scan->crossing);
    return !scan->failed;
}
