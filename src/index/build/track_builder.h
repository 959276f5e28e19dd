/* The spans of one track while an index is built: the active ones, the chunks of those that ended,
 * and how many tiles the track would have at each resolution.
 *
 * Called by index_builder.c with the events of the source, in the order of time.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_TRACK_BUILDER_H
#define MAGIC_TRACE_INDEX_BUILD_TRACK_BUILDER_H

#include "index/build/chunk_writer.h"
#include "index/build/spill.h"
#include "index/file/span_codec.h"

struct open_span;

struct track_builder {
    struct open_span *stack; /* owned; those above `depth` are remembered for previous_start */
    size_t depth, capacity;
    size_t deepest;
    uint64_t spans;
    uint64_t first, last; /* ns */
    bool is_hits;
    struct chunk_writer writer;
    struct span_coder coder;
    struct index_sieve sieve; /* of the chunk that is being filled */
    struct array sieves;      /* of struct index_sieve, by chunk */
    /* Number of tiles by the lowest shift at which they are merged into the tile before. */
    uint64_t begun[INDEX_SHIFT_MAX + 3];
};

/* What all tracks share. */
struct track_output {
    struct index_file *file;
    struct spill *crossing; /* of struct crossing_span */
    uint32_t chunk_items;   /* spans of a chunk at most */
};

void track_builder_init(struct track_builder *track);
void track_builder_free(struct track_builder *track);

struct span_beginning {
    uint64_t time;
    uint32_t function;
    uint8_t flags; /* SPAN_START_INFERRED */
};

struct span_ending {
    uint64_t time;
    uint8_t flags, ending;
};

void track_builder_enter(struct track_builder *track, const struct span_beginning *beginning);

/* Ends the innermost open span and gives it, if there is one. */
bool track_builder_leave(struct track_builder *track, const struct track_output *output,
                         const struct span_ending *ending, struct index_span *left);

/* Ends what is still open at `time`, and writes the last chunk. */
void track_builder_finish(struct track_builder *track, const struct track_output *output,
                          uint64_t time);

/* How many tiles the track has at resolution 1 << shift. */
uint64_t track_builder_tiles(const struct track_builder *track, unsigned shift);

#endif
