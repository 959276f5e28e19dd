/* From begin, end and complete events of a trace file to spans that nest.
 *
 * Used by the trace reader. Events are fed in time order; for each come none, one or several span
 * events, in time order too, and per track every leave belongs to the innermost enter. What other
 * readers do was the measure: Perfetto ignores an end without a begin and keeps a span without an
 * end open to the end of the trace. It drops or overlaps complete events that do not nest; here
 * they are cut where their parent ends.
 */
#ifndef MAGIC_TRACE_OUTPUT_SPAN_NESTING_H
#define MAGIC_TRACE_OUTPUT_SPAN_NESTING_H

#include "base/array.h"
#include "output/fxt_parser.h"
#include "stack/span.h"

#include <stdbool.h>
#include <stdint.h>

struct span_nesting {
    struct array stacks;    /* of struct array of struct open_frame, by track */
    struct array deadlines; /* of struct deadline, a binary heap: when complete events end */
    struct array ready;     /* of struct span_event: made and not taken yet */
    size_t taken;           /* of ready */
    uint64_t last_time;
};

void span_nesting_init(struct span_nesting *nesting);
void span_nesting_free(struct span_nesting *nesting);

/* `event->time` must not be less than that of the event before. */
void span_nesting_feed(struct span_nesting *nesting, const struct fxt_raw_event *event);

/* Ends complete events, each in its time, and then closes all that is open at the time of the last
 * event. */
void span_nesting_finish(struct span_nesting *nesting);

/* The next span event; false when there is none, and more must be fed. */
static inline bool span_nesting_take(struct span_nesting *nesting, struct span_event *event)
{
    if (nesting->taken == nesting->ready.count)
        return false;
    *event = *(struct span_event *)array_at(&nesting->ready, nesting->taken++);
    return true;
}

#endif
