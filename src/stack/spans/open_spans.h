/* The open spans of each track of a source, to be entered again where a part of the trace begins
 * and left where it ends.
 *
 * Used by sources that show a part of another: a filter, a window. Between open_spans_walk and the
 * end of the walk, open_spans_keep must not be called.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_OPEN_SPANS_H
#define MAGIC_TRACE_STACK_SPANS_OPEN_SPANS_H

#include "base/array.h"
#include "stack/spans/span.h"

struct open_spans {
    struct array *of_track; /* of struct span_event, by track: the ENTERs, outermost first; owned */
    size_t track_count;
    size_t track, depth; /* what the walk returns next */
};

void open_spans_init(struct open_spans *spans, size_t track_count);
void open_spans_free(struct open_spans *spans);

/* Must be called with each event of the source. */
void open_spans_keep(struct open_spans *spans, const struct span_event *event);

/* Goes to the first track. */
void open_spans_walk(struct open_spans *spans);

/* The next ENTER (outermost first) or LEAVE (innermost first), as an event at `time`: with an
 * inferred beginning, or ended by the filter. False if there are no more. */
bool open_spans_enter(struct open_spans *spans, struct nanoseconds time, struct span_event *event);
bool open_spans_leave(struct open_spans *spans, struct nanoseconds time, struct span_event *event);

#endif
