/* The index of a trace: its spans, packed so that queries of any range are fast.
 *
 * Made once by index/build/index_builder.h and mapped here, read-only; many threads may query it at
 * once. docs/viewer.md section 1 defines the queries. Times are ns since the trace's first event.
 * Index files are not trusted: invalid content gives ERROR_FORMAT.
 */
#ifndef MAGIC_TRACE_INDEX_TRACE_INDEX_H
#define MAGIC_TRACE_INDEX_TRACE_INDEX_H

#include "base/array.h"
#include "base/error.h"
#include "index/file/index_items.h"

struct trace_index;

/* NULL with ERROR_FORMAT when the file is no index of this version or is damaged; then it must be
 * built again. */
struct trace_index *trace_index_open(const char *path, struct error *error);
void trace_index_close(struct trace_index *index);

const struct index_facts *trace_index_facts(const struct trace_index *index);
struct index_track trace_index_track(const struct trace_index *index, uint32_t track);
struct index_function trace_index_function(const struct trace_index *index, uint32_t function);
uint64_t trace_index_group_calls(const struct trace_index *index, uint32_t group);

#endif
