/* The levels of detail of a track: chooses their resolutions, and makes them from its spans.
 *
 * All are made in one pass over the spans: each level is made from the output of the level below.
 *
 * Called by index_builder.c when all spans are written.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_LEVELS_OF_DETAIL_H
#define MAGIC_TRACE_INDEX_BUILD_LEVELS_OF_DETAIL_H

#include "index/build/track_builder.h"

/* The layout of an index. Answers do not depend on it, only their speed and the file's size. */
struct index_layout {
    uint32_t chunk_items;  /* of a chunk at most; up to INDEX_CHUNK_ITEMS */
    uint64_t level_ratio;  /* a level has at most this fraction (1/ratio) of the tiles of the
                            * level below */
    uint64_t level_enough; /* this many tiles need no further level */
    uint64_t bucket_calls; /* of a bucket about; INDEX_BUCKET_CALLS */
};

/* A level that was made. */
struct made_level {
    unsigned shift;
    struct array chunks; /* of struct index_chunk; owned */
};

/* Appends struct made_level, finest first. `written` maps the file as it is with all spans of the
 * track; the new chunks go to `file`. */
bool make_levels_of_detail(const struct track_builder *track, const struct index_layout *layout,
                           const struct file_view *written, struct index_file *file,
                           struct array *levels, struct error *error);

#endif
