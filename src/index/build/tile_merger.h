/* From the spans or pieces of a track to its pieces at a coarser resolution.
 *
 * Pieces of a depth do not overlap and come in the order of time, because what is as long as a bin
 * leaves no room behind it in its bin. So one piece for each depth is enough to merge into, and of
 * equally long spans the first to come is the first to start. Bins nest, and what a piece tells
 * (first start, last end, longest, count) comes out the same of spans and of finer pieces.
 *
 * Called by levels_of_detail.c, and by tiles.c with what is stored.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_TILE_MERGER_H
#define MAGIC_TRACE_INDEX_BUILD_TILE_MERGER_H

#include "base/array.h"
#include "index/tile_codec.h"

struct merged_tile {
    struct tile_item item;
    bool overlaps; /* tiles.c: a span of it overlaps the range that is asked for */
};

struct tile_merger {
    unsigned shift;     /* the resolution is 1 << shift */
    struct array tiles; /* of struct merged_tile, in the order of their first spans' ends */
    struct array open;  /* of uint32_t, by depth: 1 + the piece that may still grow; 0: none */
};

struct tile_merger tile_merger_new(unsigned shift);
void tile_merger_free(struct tile_merger *merger);

/* Whether the item is a piece by itself at 1 << shift. */
static inline bool is_tile_alone(const struct tile_item *item, unsigned shift)
{
    return item->spans == 1 && (item->end - item->start) >> shift > 0;
}

/* Takes the next item, in the order of ends; gives the piece that it is in, valid until the next
 * call. */
struct merged_tile *tile_merger_add(struct tile_merger *merger, const struct tile_item *item);

/* Whether later items may belong to piece `index` as well. */
bool tile_merger_may_grow(const struct tile_merger *merger, size_t index);

/* Keeps those pieces for which `keeps` says so; it may take the others elsewhere. */
void tile_merger_filter(struct tile_merger *merger,
                        bool (*keeps)(void *context, const struct merged_tile *tile, bool may_grow),
                        void *context);

#endif
