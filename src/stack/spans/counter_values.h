/* The last value of each counter of a source, to be repeated where a part of the trace begins.
 *
 * Used by sources that show a part of another: a filter, a window. Between counter_values_walk and
 * the last counter_values_next, counter_values_keep must not be called.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_COUNTER_VALUES_H
#define MAGIC_TRACE_STACK_SPANS_COUNTER_VALUES_H

#include "base/array.h"
#include "stack/spans/span.h"

struct counter_values {
    const struct span_track *tracks; /* of the source; borrowed */
    struct array newest; /* of struct span_event: the newest of each counter of a process */
    size_t walked;       /* how many of these the walk has passed */
};

void counter_values_init(struct counter_values *values, const struct span_source *source);
void counter_values_free(struct counter_values *values);

/* Must be called with each event of the source. */
void counter_values_keep(struct counter_values *values, const struct span_event *event);

/* Goes to the first counter. */
void counter_values_walk(struct counter_values *values);

/* The next counter, as an event at `time`. False if there are no more. */
bool counter_values_next(struct counter_values *values, struct nanoseconds time,
                         struct span_event *event);

#endif
