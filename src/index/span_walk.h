/* The spans of a track in the order in which they begin, callers before what they call.
 *
 *     struct span_walk walk = span_walk_begin(index, track, first, last);
 *     while (span_walk_next(&walk, &span, error))
 *         ...
 *     ok = span_walk_end(&walk);
 *
 * Called by analysis/call_tree.c. Given are all of which any part, be it a moment at either end, lies between
 * `first` and `last`, both included. One chunk is in memory at a time.
 */
#ifndef MAGIC_TRACE_INDEX_SPAN_WALK_H
#define MAGIC_TRACE_INDEX_SPAN_WALK_H

#include "base/array.h"
#include "index/file/index_reader.h"

struct span_walk {
    const struct trace_index *index;
    struct chunk_run run;
    uint64_t first, last;    /* ns */
    size_t chunk, end_chunk; /* the next to be read, and the first that is not */
    size_t crossing;         /* spans given already that go on in the next chunk */
    struct index_span *room; /* a chunk; owned */
    uint64_t spans_before;   /* spans that began before those of the chunk, their callers aside */
    uint64_t number;         /* of the span given last: how many of its track began before */
    struct array spans;      /* of struct index_span, callers first, the last calls first */
    struct array links;      /* of struct span_links, of the same spans */
    uint32_t next;           /* of `spans` */
    bool failed;
};

struct span_walk span_walk_begin(const struct trace_index *index, uint32_t track, uint64_t first,
                                 uint64_t last);

/* False at the end, or with an error. walk->number is how many of the track's spans began before the
 * span, when it began at `first` or later. */
bool span_walk_next(struct span_walk *walk, struct index_span *span, struct error *error);

/* Frees the walk; false when it has failed. */
bool span_walk_end(struct span_walk *walk);

#endif
