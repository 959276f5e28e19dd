/* The attributes of two kinds of event in user code. The caller sets what they record, how they are
 * inherited and when they wake a reader.
 *
 * Source: perf_event_open(2), linux/hw_breakpoint.h.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_EVENT_ATTRIBUTES_H
#define MAGIC_TRACE_PERF_EVENT_EVENT_ATTRIBUTES_H

#include <linux/perf_event.h>
#include <stdint.h>

/* Happens each time that the instruction at `address` is about to run. */
struct perf_event_attr breakpoint_attributes(uint64_t address);

/* Counts nothing: it is opened for its sideband records. */
struct perf_event_attr dummy_attributes(void);

#endif
