#include "index/tiles.h"

#include "base/memory.h"
#include "index/build/tile_merger.h"
#include "index/open_spans.h"

#include <stdlib.h>

/* A request with what follows from it. At resolution 1 << shift, a bin's short spans begin in it
 * and end before the end of the next. */
struct tile_query {
    const struct trace_index *index;
    struct tiles_request asked; /* the range cut to the trace, and not empty */
    unsigned shift;
    uint64_t first_bin, last_bin; /* that can have a span which overlaps the range */
    uint64_t limit; /* their spans end before; spans that begin in the range and end here or
                     * later are longer than a bin, and active at the range's end */
    struct tile_merger merger;
    size_t enough; /* number of tiles at which to shrink */
    bool cut;      /* tiles have been left out */
};

static bool is_wanted_row(const struct tile_query *query, uint32_t depth)
{
    return depth >= query->asked.depth && depth - query->asked.depth < query->asked.rows;
}

static bool overlaps(const struct index_range *range, uint64_t start, uint64_t end)
{
    return start < range->to && (end > range->from || (start == end && start == range->from));
}

/* ---- bounding ---- */

/* The order of the answer. */
static int compare_places(const void *left, const void *right)
{
    const struct index_tile *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static struct index_tile as_answer(const struct tile_item *item)
{
    return (struct index_tile){
        .start = item->start,
        .end = item->end,
        .depth = item->depth,
        .function = item->function,
        .spans = item->spans,
        .flags = item->flags,
        .ending = item->ending,
    };
}

struct shrinking {
    const struct index_tile *last; /* that belongs to the answer so far; NULL: all do */
    uint64_t from;
};

static bool is_in_doubt(const struct merged_tile *tile, uint64_t from)
{
    return !tile->overlaps && tile->item.end == from;
}

static bool keeps(void *context, const struct merged_tile *tile, bool may_grow)
{
    const struct shrinking *shrinking = context;
    if (may_grow || is_in_doubt(tile, shrinking->from))
        return true;
    const struct index_tile answer = as_answer(&tile->item);
    return tile->overlaps && (!shrinking->last || compare_places(&answer, shrinking->last) <= 0);
}

/* Drops tiles that cannot be among the first of the answer. */
static void shrink(struct tile_query *query)
{
    struct tile_merger *merger = &query->merger;
    struct array complete = array_of(sizeof(struct index_tile));
    for (size_t i = 0; i < merger->tiles.count; i++) {
        const struct merged_tile *tile = array_at(&merger->tiles, i);
        if (tile->overlaps && !tile_merger_may_grow(merger, i))
            *(struct index_tile *)array_add(&complete) = as_answer(&tile->item);
    }
    struct shrinking shrinking = {.from = query->asked.range.from};
    if (complete.count > query->asked.limit) {
        qsort(complete.elements, complete.count, complete.element_size, compare_places);
        shrinking.last = array_at(&complete, query->asked.limit - 1);
        query->cut = true;
    }
    tile_merger_filter(merger, keeps, &shrinking);
    array_free(&complete);
    query->enough = 2 * (merger->tiles.count + query->asked.limit);
}

/* ---- gathering ---- */

/* What is known of several spans is where the first starts and the last ends. When either lies in
 * the range, that span overlaps it. When they lie to both sides, the last one does: the range is as
 * long as a bin, so it begins before the range's end. One that ends where the range begins is in
 * doubt: it overlaps if a span of it lies there that has no length. */
static bool item_overlaps(const struct index_range *range, const struct tile_item *item)
{
    return item->spans == 1
               ? overlaps(range, item->start, item->end)
               : item->start < range->to && (item->start >= range->from || item->end > range->from);
}

static void take_item(struct tile_query *query, const struct tile_item *item)
{
    if (!is_wanted_row(query, item->depth) || item->end >= query->limit)
        return;
    uint64_t bin = item->start >> query->shift;
    bool alone = is_tile_alone(item, query->shift);
    bool inside = item_overlaps(&query->asked.range, item);
    if (alone ? !inside : bin < query->first_bin || bin > query->last_bin)
        return;
    struct merged_tile *tile = tile_merger_add(&query->merger, item);
    tile->overlaps |= inside;
    if (query->merger.tiles.count > query->enough)
        shrink(query);
}

static struct tile_item as_item(const struct index_span *span)
{
    return (struct tile_item){
        .start = span->start,
        .end = span->end,
        .longest = span->end - span->start,
        .depth = span->depth,
        .function = span->function,
        .spans = 1,
        .flags = span->flags,
        .ending = span->ending,
    };
}

/* Room for a chunk of either kind. */
union chunk_room {
    struct index_span spans[INDEX_CHUNK_ITEMS];
    struct tile_item tiles[INDEX_CHUNK_ITEMS];
};

static bool take_chunk(struct tile_query *query, const struct chunk_run *run, size_t chunk,
                       union chunk_room *room, struct error *error)
{
    uint32_t count = run->chunks[chunk].count;
    if (!run->is_spans) {
        if (!index_read_tiles(query->index, run, chunk, room->tiles, error))
            return false;
        for (uint32_t i = 0; i < count; i++)
            take_item(query, &room->tiles[i]);
        return true;
    }
    if (!index_read_spans(query->index, run, chunk, room->spans, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct tile_item item = as_item(&room->spans[i]);
        take_item(query, &item);
    }
    return true;
}

static bool take_chunks(struct tile_query *query, const struct chunk_run *run, struct error *error)
{
    union chunk_room *room = memory_allocate(sizeof *room);
    bool ok = true;
    for (size_t chunk = chunk_run_find(run, query->first_bin << query->shift);
         ok && chunk < run->count && run->chunks[chunk].first_end < query->limit; chunk++)
        ok = take_chunk(query, run, chunk, room, error);
    free(room);
    return ok;
}

static void add_alone(struct tile_query *query, const struct index_span *span)
{
    struct merged_tile *tile = array_add(&query->merger.tiles);
    tile->item = as_item(span);
    tile->overlaps = true;
}

/* The spans that are active at the end of the range, and end after the items that were read. They
 * come last, because nothing follows them at their depths. */
static bool take_long_spans(struct tile_query *query, struct error *error)
{
    struct array open = array_of(sizeof(struct index_span));
    bool ok = index_open_spans(query->index, query->asked.track, query->asked.range.to - 1, &open,
                               NULL, error);
    for (size_t i = 0; ok && i < open.count; i++) {
        const struct index_span *span = array_at(&open, i);
        if (is_wanted_row(query, span->depth) && span->end >= query->limit)
            add_alone(query, span);
    }
    array_free(&open);
    return ok;
}

/* ---- doubts ---- */

static void note_part(struct tile_query *query, const struct index_span *span)
{
    struct tile_merger *merger = &query->merger;
    for (size_t i = 0; i < merger->tiles.count; i++) {
        struct merged_tile *tile = array_at(&merger->tiles, i);
        if (is_in_doubt(tile, span->start) && tile->item.depth == span->depth &&
            tile->item.start >> query->shift == span->start >> query->shift)
            tile->overlaps = true;
    }
}

static bool has_doubts(const struct tile_query *query)
{
    const struct array *tiles = &query->merger.tiles;
    for (size_t i = 0; i < tiles->count; i++)
        if (is_in_doubt(array_at(tiles, i), query->asked.range.from))
            return true;
    return false;
}

static bool resolve_doubts(struct tile_query *query, struct error *error)
{
    if (!has_doubts(query))
        return true;
    struct array open = array_of(sizeof(struct index_span));
    struct array ended = array_of(sizeof(struct index_span));
    bool ok = index_open_spans(query->index, query->asked.track, query->asked.range.from, &open,
                               &ended, error);
    for (size_t i = 0; ok && i < ended.count; i++) {
        const struct index_span *span = array_at(&ended, i);
        if (span->start == span->end)
            note_part(query, span);
    }
    array_free(&open);
    array_free(&ended);
    return ok;
}

/* ---- the answer ---- */

static void give_answer(const struct tile_query *query, struct array *tiles)
{
    size_t first = tiles->count;
    for (size_t i = 0; i < query->merger.tiles.count; i++) {
        const struct merged_tile *tile = array_at(&query->merger.tiles, i);
        if (tile->overlaps)
            *(struct index_tile *)array_add(tiles) = as_answer(&tile->item);
    }
    if (tiles->count > first)
        qsort(array_at(tiles, first), tiles->count - first, tiles->element_size, compare_places);
}

static bool gather(struct tile_query *query, struct error *error)
{
    const struct index_range *range = &query->asked.range;
    /* A tile can reach across a range that is shorter than a bin although its spans do not overlap
     * it. */
    bool is_short = (range->to - range->from) >> query->shift == 0;
    struct chunk_run run = is_short
                               ? index_spans_of(query->index, query->asked.track)
                               : index_level_of(query->index, query->asked.track, query->shift);
    return take_chunks(query, &run, error) && resolve_doubts(query, error) &&
           take_long_spans(query, error);
}

/* Beyond the trace's length all resolutions give the same: one bin has it all. */
static unsigned shift_of(uint64_t resolution, uint64_t duration)
{
    unsigned shift = (unsigned)__builtin_ctzll(resolution);
    while (shift > 0 && duration >> (shift - 1) == 0)
        shift--;
    return shift;
}

static void find_bins(struct tile_query *query)
{
    uint64_t from = query->asked.range.from >> query->shift;
    query->first_bin = from > 0 ? from - 1 : 0;
    query->last_bin = (query->asked.range.to - 1) >> query->shift;
    query->limit = (query->last_bin + 2) << query->shift;
}

bool index_tiles(const struct trace_index *index, const struct tiles_request *request,
                 struct array *tiles, bool *more, struct error *error)
{
    *more = false;
    if (!index_check_track(index, request->track, error))
        return false;
    if (request->resolution == 0 || (request->resolution & (request->resolution - 1)) != 0)
        return error_set(error, ERROR_USAGE, "the resolution is not a power of two: %llu",
                         (unsigned long long)request->resolution);
    struct tile_query query = {.index = index, .asked = *request};
    struct index_range *range = &query.asked.range;
    if (range->to > index->facts.duration + 1)
        range->to = index->facts.duration + 1;
    if (range->from >= range->to)
        return true;
    query.shift = shift_of(request->resolution, index->facts.duration);
    query.merger = tile_merger_new(query.shift);
    find_bins(&query);
    query.enough = 2 * query.asked.limit;
    bool ok = gather(&query, error);
    size_t first = tiles->count;
    if (ok)
        give_answer(&query, tiles);
    if (tiles->count - first > query.asked.limit) {
        tiles->count = first + query.asked.limit;
        query.cut = true;
    }
    *more = query.cut;
    tile_merger_free(&query.merger);
    return ok;
}
