/* Events that are recorded beside Intel PT, on the same threads: -events.
 *
 * Used by tracing.c, which opens them, and pt_recording.c.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_EXTRA_EVENTS_H
#define MAGIC_TRACE_ENGINE_PT_EXTRA_EVENTS_H

#include "engine/processor_options.h"
#include "perf_event/event_rings.h"

/* Event `index` of `wanted`, as the kernel is asked for it, but for its precision; recorded in `extras` like the
 * events with `packets`. */
struct perf_event_attr extra_event_attributes(const struct processor_options *wanted,
                                              const struct perf_event_attr *packets,
                                              const struct event_rings *extras, size_t index);

/* Opens all on a thread, as precisely as the processor can, where that was asked for. 0 or an errno; extras->kind is
 * the index of the one that was refused. */
int extra_events_add(struct event_rings *extras, const struct processor_options *wanted,
                     const struct perf_event_attr *packets, pid_t tid);

#endif
