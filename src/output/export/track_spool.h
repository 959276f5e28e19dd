/* Bytes that come for many tracks in turn and are wanted track by track: kept in one unnamed
 * temporary file, with a small buffer in memory for each track.
 *
 * Used by exporters of formats that have one track after the other. The file is made (tmpfile(3))
 * when the first buffer is full, so small traces need none.
 */
#ifndef MAGIC_TRACE_OUTPUT_EXPORT_TRACK_SPOOL_H
#define MAGIC_TRACE_OUTPUT_EXPORT_TRACK_SPOOL_H

#include "base/array.h"
#include "base/error.h"
#include "output/block_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct track_spool {
    struct spooled_track *tracks; /* owned */
    size_t track_count;
    FILE *file;    /* NULL: not needed so far */
    uint64_t size; /* bytes in it */
    bool failed;   /* error says why */
    struct error error;
};

void track_spool_init(struct track_spool *spool, size_t track_count);
void track_spool_free(struct track_spool *spool);

/* Appends to the bytes of the track. track_spool_copy reports failures. */
void track_spool_put(struct track_spool *spool, uint32_t track, const void *bytes, size_t size);

/* All bytes of the track, in the order in which they came. */
bool track_spool_copy(struct track_spool *spool, uint32_t track, struct block_writer *out,
                      struct error *error);

#endif
