/* Events that are recorded beside Intel PT, on the same threads: -events.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_EXTRA_EVENTS_H
#define MAGIC_TRACE_ENGINE_PT_EXTRA_EVENTS_H

#include "engine/pt/tracing.h"

/* Event `index`, as the kernel is asked for it, but for its precision. */
struct perf_event_attr extra_event_attributes(const struct tracing *tracing, size_t index);

/* Opens all on a thread, as precisely as the processor can, where that was asked for. 0 or an
 * errno; tracing->extras.kind is the index of the one that was refused. */
int extra_events_add(struct tracing *tracing, pid_t tid);

#endif
