/* The processor's frequency, in MHz, and the C-state in which it sleeps (0: awake), as counters:
 * one of each core, or of each thread where its packets are a ring of their own.
 *
 * A core belongs to no process: its counter is shown with that of the first track.
 *
 * Called by sample_spans.c.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_PROCESSOR_COUNTERS_H
#define MAGIC_TRACE_STACK_SPANS_PROCESSOR_COUNTERS_H

#include "base/array.h"
#include "stack/spans/span_overlay.h"

/* Adds `marks` (struct trace_mark, from trace_marks_find) to the events of `overlay`, on the tracks
 * of `source`, whose time 0 is `origin`: first the value that holds at time 0, then the changes. */
void processor_counters_add(struct span_overlay *overlay, const struct span_source *source,
                            const struct array *marks, struct nanoseconds origin);

#endif
