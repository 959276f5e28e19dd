/* The tiles of a track at a resolution (docs/viewer.md section 1, "Tiles").
 *
 * Called by the server for each tile of the screen.
 */
#ifndef MAGIC_TRACE_INDEX_TILES_H
#define MAGIC_TRACE_INDEX_TILES_H

#include "index/trace_index.h"

struct tiles_request {
    uint32_t track;
    struct index_range range;
    uint64_t resolution; /* ns; a power of two */
    uint32_t depth;      /* the first row wanted */
    uint32_t rows;
    size_t limit; /* maximal number of tiles */
};

/* Appends struct index_tile to `tiles`, by start, outer first, then by end: what has no length before
 * what follows it. *more: the limit cut the answer. */
bool index_tiles(const struct trace_index *index, const struct tiles_request *request,
                 struct array *tiles, bool *more, struct error *error);

#endif
