/* perf's clock: the default clock of the nanoseconds in the kernel's records of events, with its
 * relation to the time of day and to the processor's time-stamp counter.
 *
 * The kernel publishes the counter's conversion in the first page of an event's ring
 * (cap_user_time_zero), except in some virtual machines; there it is measured. The relation to the
 * time of day comes from a record that we cause ourselves (PERF_RECORD_COMM) at a known moment.
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
