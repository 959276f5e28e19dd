/* The spans that are open at a moment, from one or two chunks and the crossing spans.
 *
 * Called by the queries that need a stack (span_search.c) or the long spans that pass the end of a
 * range (tiles.c).
 */
#ifndef MAGIC_TRACE_INDEX_OPEN_SPANS_H
#define MAGIC_TRACE_INDEX_OPEN_SPANS_H

#include "base/array.h"
#include "index/file/index_reader.h"

/* Appends the spans with start <= time < end to `open` (struct index_span), innermost first, and
 * those that end at `time` to `ended`, in the order of their ends; `ended` may be NULL. */
bool index_open_spans(const struct trace_index *index, uint32_t track, uint64_t time,
                      struct array *open, struct array *ended, struct error *error);

#endif
