/* perf's clock: the one whose nanoseconds stand in the kernel's records of events (when no other
 * was asked for), tied to the time of day and to the processor's time-stamp counter.
 *
 * The kernel tells the counter's conversion in the page of an event's ring (cap_user_time_zero),
 * but not in every virtual machine; then it is measured. The time of day is learned from a record
 * that we cause ourselves (PERF_RECORD_COMM), at a moment that is known.
 *
 * Used by engines whose records perf wrote.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_PERF_CLOCK_H
#define MAGIC_TRACE_PERF_EVENT_PERF_CLOCK_H

#include "base/clock.h"
#include "base/error.h"
#include "perf_event/kernel.h"

struct perf_clock {
    struct clock_conversion conversion; /* from ticks of the time-stamp counter */
    uint64_t wall_clock_ns;             /* CLOCK_REALTIME ... */
    uint64_t wall_clock_at;             /* ... at this time of perf's clock */
};

/* Takes a hundredth of a second where the conversion has to be measured. */
bool perf_clock_read(struct perf_clock *clock, const struct kernel *kernel, struct error *error);

#endif
