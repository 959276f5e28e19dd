/* Single spans: at a moment, with their parents, and from call to call of a function.
 *
 * Called by the server when something is clicked or searched.
 */
#ifndef MAGIC_TRACE_VIEW_SPAN_SEARCH_H
#define MAGIC_TRACE_VIEW_SPAN_SEARCH_H

#include "view/trace_index.h"

/* Appends the spans that hold `time` (struct index_span), outermost first. A span of length zero
 * holds its own moment. */
bool index_stack_at(const struct trace_index *index, uint32_t track, uint64_t time,
                    struct array *stack, struct error *error);

/* Time of the span in itself, and how many spans it has called directly. */
bool index_span_self(const struct trace_index *index, uint32_t track, const struct index_span *span,
                     uint64_t *self, uint64_t *children, struct error *error);

struct call_place {
    uint32_t track;
    struct index_span span;
};

/* The first call of `group` behind (forward) or the last before (time, depth, track), by start,
 * then depth, then track. False without an error when there is none. *ordinal counts from 1 among
 * the calls of the group in those tracks. */
bool index_next_call(const struct trace_index *index, struct index_tracks tracks, uint32_t group,
                     const struct call_place *from, bool forward, struct call_place *call,
                     uint64_t *ordinal, struct error *error);

#endif
