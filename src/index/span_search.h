/* Single spans: at a moment, with their parents, and from call to call of a function.
 *
 * Called by the server when something is clicked or searched.
 */
#ifndef MAGIC_TRACE_INDEX_SPAN_SEARCH_H
#define MAGIC_TRACE_INDEX_SPAN_SEARCH_H

#include "index/trace_index.h"
#include "stack/spans/span.h"

/* Appends the spans that hold `time`, start <= time < end (struct index_span), outermost first.
 * Where spans of length zero lie at that moment, deeper than those, it is the stack of the one that
 * began last: with its callers, also those that end at the moment. */
bool index_stack_at(const struct trace_index *index, uint32_t track, uint64_t time,
                    struct array *stack, struct error *error);

/* Appends the span at `depth` that contains `time`, and before it its callers, outermost first;
 * nothing where no span is. A span of length zero is returned where no other contains its moment
 * at its depth, of several the last. */
bool index_span_at(const struct trace_index *index, uint32_t track, uint32_t depth, uint64_t time,
                   struct array *stack, struct error *error);

/* As index_span_at, where a span of length zero is meant: appends the first one at that depth and
 * moment that is of `group` (UINT32_MAX: any), with its callers; none if there is no such span. */
bool index_brief_span_at(const struct trace_index *index, uint32_t track, uint32_t depth,
                         uint64_t time, uint32_t group, struct array *stack, struct error *error);

/* Time of the span in itself, and how many spans it has called directly. `span` is one that a query
 * has given; ERROR_NOT_FOUND: it is not in the track. */
bool index_span_self(const struct trace_index *index, uint32_t track, const struct index_span *span,
                     uint64_t *self, uint64_t *children, struct error *error);

/* Whether its beginning or its end was not seen: it lasted at least as long as it is shown. */
static inline bool index_is_cut(const struct index_span *span)
{
    return (span->flags & (SPAN_START_INFERRED | SPAN_END_INFERRED)) != 0 ||
           span->ending == SPAN_END_GAP || span->ending == SPAN_END_OF_TRACE;
}

/* Whether both are one span, or spans of one track that nothing distinguishes. Start and depth do
 * not say it: calls without length may begin where others do. */
static inline bool index_is_same_span(const struct index_span *a, const struct index_span *b)
{
    return a->start == b->start && a->end == b->end && a->depth == b->depth &&
           a->function == b->function && a->flags == b->flags && a->ending == b->ending;
}

struct call_place {
    uint32_t track;
    struct index_span span;
};

/* By start, then depth, then track, as qsort(3) has it. */
int call_place_compare(const struct call_place *a, const struct call_place *b);

/* The first call of `group` after (forward) or the last before (time, depth, track), by start, then
 * depth, then track. False without an error: no such span. *ordinal counts from 1 among the
 * calls of the group in those tracks: it is the number of those up to this one. */
bool index_next_call(const struct trace_index *index, struct index_tracks tracks, uint32_t group,
                     const struct call_place *from, bool forward, struct call_place *call,
                     uint64_t *ordinal, struct error *error);

#endif
