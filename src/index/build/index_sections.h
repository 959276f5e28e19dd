/* The end of an index file: directory, tracks, functions and all else that is known when the spans
 * are written.
 *
 * Called by index_builder.c once, at its end.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_INDEX_SECTIONS_H
#define MAGIC_TRACE_INDEX_BUILD_INDEX_SECTIONS_H

#include "index/build/bucket_recorder.h"
#include "index/build/function_catalog.h"
#include "index/build/levels_of_detail.h"
#include "index/build/mark_recorder.h"
#include "index/build/stack_recorder.h"
#include "index/build/value_recorder.h"

struct indexed_track {
    struct track_builder builder;
    struct array levels; /* of struct made_level */
};

/* All data of the index; borrowed. */
struct gathered_index {
    const struct span_source *source;
    struct indexed_track *tracks; /* as many as the source has */
    const struct function_catalog *functions;
    struct string_pool *strings;
    const struct mark_recorder *marks;
    const struct value_recorder *values;
    const struct spill *crossing;
    const struct spill *switches; /* of struct switch_record */
    const struct stack_recorder *stacks;
    const struct bucket_recorder *buckets;
};

/* Writes the sections, and their offsets into `header`. */
void write_index_sections(const struct gathered_index *gathered, struct index_file *file,
                          struct index_header *header);

#endif
