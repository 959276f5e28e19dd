#include "index/build/tile_merger.h"

struct tile_merger tile_merger_new(unsigned shift)
{
    return (struct tile_merger){
        .shift = shift,
        .tiles = array_of(sizeof(struct merged_tile)),
        .open = array_of(sizeof(uint32_t)),
    };
}

void tile_merger_free(struct tile_merger *merger)
{
    array_free(&merger->tiles);
    array_free(&merger->open);
}

static uint32_t *open_at(struct tile_merger *merger, uint32_t depth)
{
    while (merger->open.count <= depth)
        array_add(&merger->open);
    return array_at(&merger->open, depth);
}

static void merge(struct tile_item *tile, const struct tile_item *item)
{
    if (item->longest > tile->longest) {
        tile->longest = item->longest;
        tile->function = item->function;
    }
    if (__builtin_add_overflow(tile->spans, item->spans, &tile->spans))
        tile->spans = UINT32_MAX;
    tile->end = item->end;
    tile->flags = tile->ending = 0;
}

struct merged_tile *tile_merger_add(struct tile_merger *merger, const struct tile_item *item)
{
    uint32_t *open = open_at(merger, item->depth);
    bool alone = is_tile_alone(item, merger->shift);
    if (!alone && *open) {
        struct merged_tile *tile = array_at(&merger->tiles, *open - 1);
        if (tile->item.start >> merger->shift == item->start >> merger->shift) {
            merge(&tile->item, item);
            return tile;
        }
    }
    struct merged_tile *tile = array_add(&merger->tiles);
    tile->item = *item;
    *open = alone ? 0 : (uint32_t)merger->tiles.count;
    return tile;
}

bool tile_merger_may_grow(const struct tile_merger *merger, size_t index)
{
    const struct merged_tile *tile = array_at(&merger->tiles, index);
    return *(const uint32_t *)array_at(&merger->open, tile->item.depth) == index + 1;
}

void tile_merger_filter(struct tile_merger *merger,
                        bool (*keeps)(void *context, const struct merged_tile *tile, bool may_grow),
                        void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < merger->tiles.count; i++) {
        const struct merged_tile *tile = array_at(&merger->tiles, i);
        uint32_t *open = array_at(&merger->open, tile->item.depth);
        bool may_grow = *open == i + 1;
        if (keeps(context, tile, may_grow)) {
            *(struct merged_tile *)array_at(&merger->tiles, kept++) = *tile;
            if (may_grow)
                *open = (uint32_t)kept;
        } else if (may_grow) {
            *open = 0;
        }
    }
    merger->tiles.count = kept;
}
