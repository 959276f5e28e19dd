/* Merges the spans or tiles of a track to tiles of a lower resolution.
 *
 * Tiles of a depth do not overlap and come in the order of time, because after an item that is as
 * long as a bin no other begins in its bin. So one unfinished tile per depth is enough, and of
 * equally long spans the first to come is the first to start. Bins nest, and the facts of a tile
 * (first start, last end, longest, count) are the same from spans and from tiles of a higher
 * resolution.
 *
 * Called by levels_of_detail.c, and by tiles.c with stored items.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_TILE_MERGER_H
#define MAGIC_TRACE_INDEX_BUILD_TILE_MERGER_H

#include "base/array.h"
#include "index/file/tile_codec.h"

struct merged_tile {
    struct tile_item item;
    bool overlaps; /* tiles.c: a span of it overlaps the range that is asked for */
};

struct tile_merger {
    unsigned shift;     /* the resolution is 1 << shift */
    struct array tiles; /* of struct merged_tile, in the order of their first spans' ends */
    struct array open;  /* of uint32_t, by depth: 1 + the tile that may still grow; 0: none */
};

struct tile_merger tile_merger_new(unsigned shift);
void tile_merger_free(struct tile_merger *merger);

/* Whether the item is a tile by itself at 1 << shift. */
static inline bool is_tile_alone(const struct tile_item *item, unsigned shift)
{
    return item->spans == 1 && (item->end - item->start) >> shift > 0;
}

/* Takes the next item, in the order of ends; returns the tile that contains it, valid until the
 * next call. */
struct merged_tile *tile_merger_add(struct tile_merger *merger, const struct tile_item *item);

/* Whether later items may belong to tile `index` as well. */
bool tile_merger_may_grow(const struct tile_merger *merger, size_t index);

/* Keeps the tiles for which `keeps` returns true; it may store the others elsewhere. */
void tile_merger_filter(struct tile_merger *merger,
                        bool (*keeps)(void *context, const struct merged_tile *tile, bool may_grow),
                        void *context);

#endif
