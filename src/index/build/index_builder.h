/* Making the index of a trace (docs/viewer.md section 2), and finding one made before.
 *
 * Called by `view`, and by -serve, before the server starts.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_INDEX_BUILDER_H
#define MAGIC_TRACE_INDEX_BUILD_INDEX_BUILDER_H

#include "base/error.h"
#include "index/trace_index.h"
#include "stack/spans/span.h"

/* Reads `source` to its end and writes the index to `path`, by way of a temporary name. A source
 * that ends with an error gives the index of what came before, which says so (index_facts.damage).
 * `id` becomes index_facts.id. */
bool index_build(struct span_source *source, const char *path, uint64_t id, struct error *error);

/* The index of the trace file at `path`: the one beside it or in the cache folder if it fits, else
 * a new one. NULL when there is no trace, or no room for an index anywhere. */
struct trace_index *index_of_trace(const char *path, struct error *error);

/* The index of the file at `path` that was made before; NULL: none fits. */
struct trace_index *index_made_before(const char *path);

/* How an index is made of a file that is no trace: a recording, which is the caller's to decode. */
struct index_maker {
    /* Calls index_build() with the spans of the file and these arguments. */
    bool (*make)(void *context, const char *index, uint64_t id, struct error *error);
    void *context;
};

/* The same of any file. */
struct trace_index *index_of_file(const char *path, const struct index_maker *maker,
                                  struct error *error);

/* Whether the file at `path` is still the one that `index_of_trace` gave `id` to. */
bool index_is_current(const char *path, uint64_t id);

#endif
