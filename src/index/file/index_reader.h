/* An open index, for queries: its sections, checked, and its chunks, decoded.
 *
 * For the files of this directory that answer queries; others use trace_index.h.
 */
#ifndef MAGIC_TRACE_INDEX_FILE_INDEX_READER_H
#define MAGIC_TRACE_INDEX_FILE_INDEX_READER_H

#include "base/file.h"
#include "index/file/index_format.h"
#include "index/file/index_items.h"
#include "index/file/tile_codec.h"
#include "output/stack_parts.h"

struct trace_index {
    struct file_view view;
    char *path; /* owned */
    const struct index_header *header;
    const uint8_t *chunk_bytes;
    const struct index_chunk *chunks;
    const struct index_sieve *sieves;
    const struct index_level *levels;
    const struct track_record *tracks;
    const struct function_record *functions;
    const struct crossing_span *crossing;
    const struct mark_record *marks;
    const struct hit_record *hits;
    const struct counter_record *counters;
    const struct sample_record *samples;
    const struct valued_record *valued;
    const struct value_record *values;
    const char *value_texts;
    const struct switch_record *switches;
    const struct stack_record *stacks;
    const struct stack_part *parts;
    const struct bucket_record *buckets;
    const uint8_t *bucket_bytes;
    const char *strings;
    uint32_t *members;       /* functions by group; owned */
    uint32_t *first_members; /* by group: its first in `members`; one more at the end; owned */
    uint64_t *group_calls;   /* owned */
    struct index_facts facts;
};

/* A run of chunks in the order of their ends: the spans of a track, or one of its levels. */
struct chunk_run {
    const struct index_chunk *chunks;
    size_t count;
    uint32_t depths; /* the track's depth */
    unsigned shift;  /* the resolution is 1 << shift; of spans 0 */
    bool is_spans;
};

struct chunk_run index_spans_of(const struct trace_index *index, uint32_t track);

/* The lowest stored resolution of the track that is at least as high as 1 << shift; its spans when
 * all stored ones are lower. */
struct chunk_run index_level_of(const struct trace_index *index, uint32_t track, unsigned shift);

/* The first chunk that has an item which ends at `time` or later; run->count: all end before. */
size_t chunk_run_find(const struct chunk_run *run, uint64_t time);

/* Decode a chunk into room for INDEX_CHUNK_ITEMS. */
bool index_read_spans(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                      struct index_span *spans, struct error *error);
bool index_read_tiles(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                      struct tile_item *tiles, struct error *error);

/* The bytes of the chunks [first, last) will not be read again soon: they need not stay mapped, or a scan of a whole index
 * would have it all in memory. They are still there when they are read again. */
void index_forget_chunks(const struct trace_index *index, const struct chunk_run *run, size_t first,
                         size_t last);

/* Whether the chunk of spans may hold a function of the group. */
bool index_may_hold(const struct trace_index *index, const struct chunk_run *run, size_t chunk,
                    uint32_t group);

/* Walks the crossing spans from the one at the end of a chunk outwards:
 *
 *     struct crossing_walk walk = crossing_walk_begin(index, &run, chunk);
 *     while (crossing_walk_next(&walk, &span)) ...
 *     if (walk.damaged) ...
 */
struct crossing_walk {
    const struct trace_index *index;
    uint32_t number;                      /* of the next; INDEX_NO_CROSSING: it was the outermost */
    uint32_t depths;                      /* the next has a smaller depth */
    const struct crossing_span *crossing; /* the last one given */
    bool damaged;
};

struct crossing_walk crossing_walk_begin(const struct trace_index *index,
                                         const struct chunk_run *run, size_t chunk);
bool crossing_walk_next(struct crossing_walk *walk, struct index_span *span);

/* ERROR_FORMAT: the index is damaged. */
bool index_damaged(const struct trace_index *index, struct error *error);

/* ERROR_USAGE when there is no such track. */
bool index_check_track(const struct trace_index *index, uint32_t track, struct error *error);

/* ERROR_USAGE when no function has this id. Ids that name no group have no calls. */
bool index_check_group(const struct trace_index *index, uint32_t group, struct error *error);

static inline uint32_t index_group_of(const struct trace_index *index, uint32_t function)
{
    return index->functions[function].group;
}

#endif
