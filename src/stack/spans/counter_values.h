/* What each counter of a source was last, to be told again where a part of the trace begins.
 *
 * Used by sources that give a part of another: a filter, a window. Between counter_values_walk and
 * the end of what it gives nothing may be kept.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_COUNTER_VALUES_H
#define MAGIC_TRACE_STACK_SPANS_COUNTER_VALUES_H

#include "base/array.h"
#include "stack/spans/span.h"

struct counter_values {
    const struct span_track *tracks; /* the source's; borrowed */
    struct array newest;             /* of struct span_event: one of each counter of a process */
    size_t walked;                   /* of these */
};

void counter_values_init(struct counter_values *values, const struct span_source *source);
void counter_values_free(struct counter_values *values);

/* To be called with each event of the source. */
void counter_values_keep(struct counter_values *values, const struct span_event *event);

/* Goes to the first counter. */
void counter_values_walk(struct counter_values *values);

/* The next counter, as if it were told at `time`. False when there are no more. */
bool counter_values_next(struct counter_values *values, struct nanoseconds time,
                         struct span_event *event);

#endif
