/* Adds events that are known in advance to a source of spans, and tracks for them: hits of the
 * trigger, samples beside Intel PT, counters.
 *
 * Used by hit_spans.c, sample_spans.c and processor_counters.c.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_SPAN_OVERLAY_H
#define MAGIC_TRACE_STACK_SPANS_SPAN_OVERLAY_H

#include "base/arena.h"
#include "base/array.h"
#include "stack/spans/span.h"
#include "stack/spans/span_functions.h"

struct span_overlay {
    struct array tracks; /* struct span_track */
    struct array events; /* struct span_event, by time; `track` counts the source's tracks first,
                            then `tracks` */
    struct arena memory; /* owns the strings of both */
};

struct span_overlay span_overlay_new(void);

/* A number that no process or thread of the source has, nor any of the `count` - 1 after it. */
uint32_t span_overlay_free_number(const struct span_source *source, uint32_t count);

/* Wraps `wrapped` and takes ownership of the overlay; close() closes and frees both. At equal times
 * its events come first. `functions` are those of the source and must outlive it. */
struct span_source *span_overlay_open(struct span_source *wrapped, struct span_overlay *overlay,
                                      const struct span_functions *functions);

#endif
