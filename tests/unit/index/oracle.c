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

/* ---- tiles ---- */

static bool is_in_bin(const struct made_span *span, const struct made_span *other,
                      uint64_t resolution)
{
    return span->track == other->track && span->depth == other->depth &&
           span->end - span->start < resolution &&
           span->start / resolution == other->start / resolution;
}

/* The tile of all short spans in the bin of span `first`. */
static struct oracle_tile bin_of(const struct made_trace *trace, size_t first, uint64_t resolution)
{
    const struct made_span *begin = made_trace_span(trace, first), *longest = begin;
    struct oracle_tile tile = {
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
        if (++tile.spans > 1)
            tile.flags = tile.ending = 0;
        if (span->end > tile.end)
            tile.end = span->end;
    }
    tile.name = longest->name;
    return tile;
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

static int compare_tiles(const void *left, const void *right)
{
    const struct oracle_tile *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static struct oracle_tile tile_of(const struct made_span *span)
{
    return (struct oracle_tile){span->start, span->end,   span->depth, span->name,
                                1,           span->flags, span->ending};
}

void oracle_tiles(const struct made_trace *trace, const struct tiles_request *request,
                  struct array *tiles)
{
    uint64_t resolution = request->resolution;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (span->track != request->track || span->depth < request->depth ||
            span->depth - request->depth >= request->rows)
            continue;
        struct oracle_tile tile;
        if (span->end - span->start >= resolution) {
            if (!oracle_overlaps(span, request->range))
                continue;
            tile = tile_of(span);
        } else {
            if (!is_first_of_bin(trace, i, resolution) ||
                !bin_overlaps(trace, span, resolution, request->range))
                continue;
            tile = bin_of(trace, i, resolution);
        }
        array_add_all(tiles, &tile, 1);
    }
    if (tiles->count > 1)
        qsort(tiles->elements, tiles->count, tiles->element_size, compare_tiles);
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
        bool inside = innermost == NO_PARENT || i > innermost; /* in the order of beginnings */
        if (span->track == track && span->start == time && span->end == time && inside)
            last = i;
    }
    for (size_t i = last == NO_PARENT ? innermost : last; i != NO_PARENT;
         i = made_trace_span(trace, i)->parent)
        *(size_t *)array_insert(stack, 0) = i;
}

void oracle_span_at(const struct made_trace *trace, uint32_t track, uint32_t depth, uint64_t time,
                    struct array *stack)
{
    size_t best = NO_PARENT;
    bool best_is_longer = false;
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (span->track != track || span->depth != depth || span->start > time)
            continue;
        bool longer = span->end > time;
        bool moment = span->start == time && span->end == time;
        if (longer || (moment && !best_is_longer))
            best = i;
        best_is_longer |= longer;
    }
    for (size_t i = best; i != NO_PARENT; i = made_trace_span(trace, i)->parent)
        *(size_t *)array_insert(stack, 0) = i;
}

/* ---- statistics ---- */

static uint64_t clip(const struct made_span *span, struct index_range range)
{
    uint64_t start = span->start > range.from ? span->start : range.from;
    uint64_t end = span->end < range.to ? span->end : range.to;
    return start < end ? end - start : 0;
}

bool oracle_is_whole(const struct made_span *span, struct index_range range)
{
    bool start_seen = !(span->flags & SPAN_START_INFERRED);
    bool end_seen = !(span->flags & SPAN_END_INFERRED) && span->ending != SPAN_END_GAP &&
                    span->ending != SPAN_END_OF_TRACE;
    return oracle_overlaps(span, range) && range.from <= span->start && span->end <= range.to &&
           start_seen && end_seen;
}

uint64_t oracle_self(const struct made_trace *trace, size_t number, struct index_range range)
{
    uint64_t self = clip(made_trace_span(trace, number), range);
    for (size_t i = 0; i < trace->spans.count; i++)
        if (made_trace_span(trace, i)->parent == number)
            self -= clip(made_trace_span(trace, i), range);
    return self;
}

static bool has_caller_of_its_name(const struct made_trace *trace, size_t number)
{
    const struct made_span *span = made_trace_span(trace, number);
    for (size_t i = span->parent; i != NO_PARENT; i = made_trace_span(trace, i)->parent)
        if (made_trace_span(trace, i)->name == span->name)
            return true;
    return false;
}

static void add_to_row(const struct made_trace *trace, size_t number, struct index_range range,
                       struct function_row *row)
{
    const struct made_span *span = made_trace_span(trace, number);
    uint64_t length = span->end - span->start;
    row->calls++;
    row->self += oracle_self(trace, number, range);
    if (!has_caller_of_its_name(trace, number))
        row->total += clip(span, range);
    if (!oracle_is_whole(span, range))
        return;
    if (row->whole == 0 || length < row->min)
        row->min = length;
    if (row->whole == 0 || length > row->max)
        row->max = length;
    row->whole++;
    row->sum += length;
}

static bool is_meant(struct oracle_tracks tracks, const struct made_span *span)
{
    return tracks.bits >> span->track & 1;
}

struct function_row oracle_row(const struct made_trace *trace, struct oracle_tracks tracks,
                               struct index_range range, uint32_t name)
{
    struct function_row row = {0};
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        if (is_meant(tracks, span) && span->name == name && oracle_overlaps(span, range))
            add_to_row(trace, i, range, &row);
    }
    return row;
}

/* ---- from call to call ---- */

static int compare_with_place(const struct made_span *span, const struct call_place *place)
{
    if (span->start != place->span.start)
        return span->start < place->span.start ? -1 : 1;
    if (span->depth != place->span.depth)
        return span->depth < place->span.depth ? -1 : 1;
    return span->track < place->track ? -1 : span->track > place->track;
}

static struct call_place place_of(const struct made_span *span)
{
    return (struct call_place){span->track, {.start = span->start, .depth = span->depth}};
}

static bool is_call(struct oracle_tracks tracks, const struct made_span *span, uint32_t name)
{
    return is_meant(tracks, span) && span->name == name;
}

size_t oracle_next(const struct made_trace *trace, struct oracle_tracks tracks, uint32_t name,
                   const struct call_place *from, bool forward, uint64_t *ordinal)
{
    size_t best = NO_PARENT;
    struct call_place best_place = {0};
    for (size_t i = 0; i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        int side = compare_with_place(span, from);
        if (!is_call(tracks, span, name) || (forward ? side <= 0 : side >= 0))
            continue;
        int order = best == NO_PARENT ? 0 : compare_with_place(span, &best_place);
        if (best == NO_PARENT || (forward ? order < 0 : order > 0)) {
            best = i;
            best_place = place_of(span);
        }
    }
    *ordinal = 0;
    for (size_t i = 0; best != NO_PARENT && i < trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(trace, i);
        *ordinal += is_call(tracks, span, name) && compare_with_place(span, &best_place) <= 0;
    }
    return best;
}
