#include "oracle.h"

#include <stdlib.h>

bool oracle_overlaps(const struct made_span *span, struct index_range range)
{
    if (range.from >= range.to)
        return false;
    if (span->start == span->end)
        return range.from <= span->start && span->start < range.to;
    return span->start < range.to && span->end > range.from;
}

/* ---- pieces ---- */

static bool is_in_bin(const struct made_span *span, const struct made_span *other,
                      uint64_t resolution)
{
    return span->track == other->track && span->depth == other->depth &&
           span->end - span->start < resolution &&
           span->start / resolution == other->start / resolution;
}

/* The piece of all short spans in the bin of span `first`. */
static struct oracle_piece bin_of(const struct made_trace *trace, size_t first, uint64_t resolution)
{
    const struct made_span *begin = made_trace_span(trace, first), *longest = begin;
    struct oracle_piece piece = {
        .start = begin->start,
        .depth = begin->depth,
        .flags = begin->flags,
        .ending = begin->ending,
    };
    for (size_t i = first; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (!is_in_bin(span, begin, resolution))
            continue;
        if (span->end - span->start > longest->end - longest->start)
            longest = span;
        if (++piece.spans > 1)
            piece.flags = piece.ending = 0;
        if (span->end > piece.end)
            piece.end = span->end;
    }
    piece.name = longest->name;
    return piece;
}

static bool bin_overlaps(const struct made_trace *trace, const struct made_span *begin,
                         uint64_t resolution, struct index_range range)
{
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (is_in_bin(span, begin, resolution) && oracle_overlaps(span, range))
            return true;
    }
    return false;
}

static bool is_first_of_bin(const struct made_trace *trace, size_t number, uint64_t resolution)
{
    const struct made_span *span = made_trace_span(trace, number);
    for (size_t i = 0; i < number; i++)
        if (is_in_bin(made_trace_span(trace, i), span, resolution))
            return false;
    return true;
}

static int compare_pieces(const void *left, const void *right)
{
    const struct oracle_piece *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static struct oracle_piece piece_of(const struct made_span *span)
{
    return (struct oracle_piece){span->start, span->end,   span->depth, span->name,
                                 1,           span->flags, span->ending};
}

void oracle_pieces(const struct made_trace *trace, const struct pieces_request *request,
                   struct array *pieces)
{
    uint64_t resolution = request->resolution;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (span->track != request->track || span->depth < request->depth ||
            span->depth - request->depth >= request->rows)
            continue;
        struct oracle_piece piece;
        if (span->end - span->start >= resolution) {
            if (!oracle_overlaps(span, request->range))
                continue;
            piece = piece_of(span);
        } else {
            if (!is_first_of_bin(trace, i, resolution) ||
                !bin_overlaps(trace, span, resolution, request->range))
                continue;
            piece = bin_of(trace, i, resolution);
        }
        array_add_all(pieces, &piece, 1);
    }
    if (pieces->count > 1)
        qsort(pieces->elements, pieces->count, pieces->element_size, compare_pieces);
}

/* ---- stacks ---- */

void oracle_stack(const struct made_trace *trace, uint32_t track, uint64_t time,
                  struct array *stack)
{
    uint32_t depth = 0;
    size_t innermost = NO_PARENT, last = NO_PARENT;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (span->track == track && span->start <= time && time < span->end &&
            span->depth >= depth) {
            depth = span->depth + 1;
            innermost = i;
        }
    }
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (span->track == track && span->start == time && span->end == time &&
            span->depth >= depth)
            last = i; /* in the order of beginnings */
    }
    for (size_t i = last == NO_PARENT ? innermost : last; i != NO_PARENT;
         i = made_trace_span(trace, i)->parent)
        *(size_t *)array_insert(stack, 0) = i;
}
