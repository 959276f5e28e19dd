#include "index/build/levels_of_detail.h"

#include "base/memory.h"
#include "index/build/tile_merger.h"

#include <stdlib.h>

/* One level while it is made. */
struct level_maker {
    struct tile_merger merger;
    struct chunk_writer writer;
    struct tile_coder coder;
    uint64_t bin;        /* that the last item ended in */
    uint64_t final_time; /* tiles that end before this are complete, and all earlier ones known */
    struct array ready;  /* of struct tile_item: complete, to be written */
};

struct level_makers {
    struct array makers; /* of struct level_maker, finest first */
    struct index_file *file;
    uint32_t chunk_items;
};

static void choose_levels(const struct track_builder *track, const struct index_layout *layout,
                          struct array *makers)
{
    uint64_t below = track->spans;
    for (unsigned shift = 1; shift <= INDEX_SHIFT_MAX && below > layout->level_enough; shift++) {
        uint64_t tiles = track_builder_tiles(track, shift);
        if (tiles > below / layout->level_ratio)
            continue;
        *(struct level_maker *)array_add(makers) = (struct level_maker){
            .merger = tile_merger_new(shift),
            .writer = chunk_writer_new(),
            .ready = array_of(sizeof(struct tile_item)),
        };
        below = tiles;
    }
}

static void write_tile(struct level_makers *all, struct level_maker *maker,
                       const struct tile_item *tile)
{
    if (maker->writer.count == 0)
        maker->coder = (struct tile_coder){.end = tile->end};
    uint8_t *bytes = chunk_writer_add(&maker->writer, tile->end, TILE_BYTES_MAX + sizeof(uint64_t));
    chunk_writer_added(&maker->writer, tile_encode(bytes, &maker->coder, tile));
    if (maker->writer.count == all->chunk_items)
        chunk_writer_flush(&maker->writer, all->file, INDEX_NO_CROSSING);
}

static bool stays(void *context, const struct merged_tile *tile, bool may_grow)
{
    (void)may_grow;
    struct level_maker *maker = context;
    if (tile->item.end >= maker->final_time)
        return true;
    array_add_all(&maker->ready, &tile->item, 1);
    return false;
}

/* By end; of equals, those of one depth in the order of time. */
static int compare_ends(const void *left, const void *right)
{
    const struct tile_item *a = left, *b = right;
    if (a->end != b->end)
        return a->end < b->end ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

static void feed(struct level_makers *all, size_t level, const struct tile_item *item);

/* Writes what ends before `time`, and makes the next level of it. */
static void emit(struct level_makers *all, size_t level, uint64_t time)
{
    struct level_maker *maker = array_at(&all->makers, level);
    maker->final_time = time;
    maker->ready.count = 0;
    tile_merger_filter(&maker->merger, stays, maker);
    if (maker->ready.count > 1)
        qsort(maker->ready.elements, maker->ready.count, sizeof(struct tile_item), compare_ends);
    for (size_t i = 0; i < maker->ready.count; i++) {
        const struct tile_item *tile = array_at(&maker->ready, i);
        write_tile(all, maker, tile);
        if (level + 1 < all->makers.count)
            feed(all, level + 1, tile);
    }
}

/* When an item ends in bin B, later items end there or later. A tile of bin B - 2 or before cannot
 * get any of them: its spans begin in their bin and are shorter than one. And tiles that can still
 * grow end in bin B - 1 or later. So tiles that end before bin B - 1 can be written, in order. */
static void feed(struct level_makers *all, size_t level, const struct tile_item *item)
{
    struct level_maker *maker = array_at(&all->makers, level);
    unsigned shift = maker->merger.shift;
    uint64_t bin = item->end >> shift;
    if (bin > maker->bin) {
        maker->bin = bin;
        emit(all, level, (bin - 1) << shift);
    }
    tile_merger_add(&maker->merger, item);
}

static void finish(struct level_makers *all)
{
    for (size_t level = 0; level < all->makers.count; level++) {
        emit(all, level, UINT64_MAX);
        struct level_maker *maker = array_at(&all->makers, level);
        if (maker->writer.count > 0)
            chunk_writer_flush(&maker->writer, all->file, INDEX_NO_CROSSING);
    }
}

static void feed_spans(struct level_makers *all, const struct index_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct index_span *span = &spans[i];
        feed(all, 0,
             &(struct tile_item){
                 .start = span->start,
                 .end = span->end,
                 .longest = span->end - span->start,
                 .depth = span->depth,
                 .function = span->function,
                 .spans = 1,
                 .flags = span->flags,
                 .ending = span->ending,
             });
    }
}

static bool read_spans(struct level_makers *all, const struct track_builder *track,
                       const struct file_view *written, struct error *error)
{
    struct index_span *spans = memory_allocate(INDEX_CHUNK_ITEMS * sizeof *spans);
    bool ok = true;
    for (size_t i = 0; ok && i < track->writer.chunks.count; i++) {
        const struct index_chunk *chunk = array_at(&track->writer.chunks, i);
        const struct span_limits limits = {chunk->last_end, UINT32_MAX, (uint32_t)track->deepest};
        ok = span_decode_chunk(written->bytes + sizeof(struct index_header) + chunk->offset, chunk,
                               &limits, spans) ||
             error_set(error, ERROR_IO,
                       "%s changed while it was being written. Leave it alone and try again",
                       all->file->output.path);
        if (ok)
            feed_spans(all, spans, chunk->count);
    }
    free(spans);
    return ok;
}

static void take_level(struct level_maker *maker, bool ok, struct array *levels)
{
    if (ok) {
        *(struct made_level *)array_add(levels) = (struct made_level){
            .shift = maker->merger.shift,
            .chunks = maker->writer.chunks,
        };
        maker->writer.chunks = array_of(sizeof(struct index_chunk));
    }
    tile_merger_free(&maker->merger);
    chunk_writer_free(&maker->writer);
    array_free(&maker->ready);
}

bool make_levels_of_detail(const struct track_builder *track, const struct index_layout *layout,
                           const struct file_view *written, struct index_file *file,
                           struct array *levels, struct error *error)
{
    struct level_makers all = {
        .makers = array_of(sizeof(struct level_maker)),
        .file = file,
        .chunk_items = layout->chunk_items,
    };
    choose_levels(track, layout, &all.makers);
    bool ok = all.makers.count == 0 || read_spans(&all, track, written, error);
    finish(&all);
    for (size_t i = 0; i < all.makers.count; i++)
        take_level(array_at(&all.makers, i), ok, levels);
    array_free(&all.makers);
    return ok;
}
