/* From begin, end and complete events of a trace file to spans that nest.
 *
 * Used by the trace reader. Events are fed in time order; each yields none, one or several span
 * events, in time order too, and per track every leave belongs to the innermost enter. This follows
 * other readers: Perfetto ignores an end without a begin and keeps a span without an end open to
 * the end of the trace. It drops or overlaps complete events that do not nest; here they are cut
 * where their parent ends.
 */
#ifndef MAGIC_TRACE_OUTPUT_FXT_SPAN_NESTING_H
#define MAGIC_TRACE_OUTPUT_FXT_SPAN_NESTING_H

#include "base/array.h"
#include "output/fxt/fxt_events.h"
#include "stack/spans/span.h"

#include <stdbool.h>
#include <stdint.h>

struct span_nesting {
    struct array *stacks; /* of struct open_frame, by track; owned */
    size_t track_count;
    struct array deadlines; /* of struct deadline, a binary heap: when complete events end */
    struct array ready;     /* of struct span_event: what was made of the events fed last */
    uint64_t last_time;
};

/* Events are of tracks below `track_count`. */
void span_nesting_init(struct span_nesting *nesting, size_t track_count);
void span_nesting_free(struct span_nesting *nesting);

/* Makes nesting->ready of `count` events. Times must not be less than those of the events
 * before. */
void span_nesting_feed(struct span_nesting *nesting, const struct fxt_raw_event *events,
                       size_t count);

/* Makes nesting->ready what is left at the end: complete events end, each in its time, and then all
 * that is open at the time of the last event. */
void span_nesting_finish(struct span_nesting *nesting);

#endif
