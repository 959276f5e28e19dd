/* The time-stamp counter of this machine, tied to CLOCK_MONOTONIC.
 *
 * The qemu engine stamps packets with rdtsc, but the kernel reports the counter's rate to user
 * space only through perf_event_open, and not in every VM (cap_user_time_zero is 0 there). So the
 * rate is measured: two anchors, each the same instant in both clocks, and the ticks between them.
 */
#ifndef MAGIC_TRACE_BASE_TSC_H
#define MAGIC_TRACE_BASE_TSC_H

#include "base/clock.h"

#include <stdint.h>

/* The counter now. The compiler's builtin: <x86intrin.h> takes a quarter of a second to compile. */
static inline uint64_t tsc_now(void)
{
    return __builtin_ia32_rdtsc();
}

/* One instant on three clocks. */
struct tsc_anchor {
    uint64_t tsc;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

/* Takes a few microseconds; accurate to some ten nanoseconds. */
struct tsc_anchor tsc_anchor_now(void);

/* Ticks per second between two anchors; 0 when they are less than a millisecond apart or contradict
 * each other (the machine was restarted or slept in between). */
uint64_t tsc_rate(const struct tsc_anchor *start, const struct tsc_anchor *end);

/* Waits 10 ms for a second anchor and returns the rate, accurate to a few parts per million. */
uint64_t tsc_measure_rate(const struct tsc_anchor *start);

/* The conversion that gives the monotonic time of `anchor` for its ticks. `rate` must not be 0. */
struct clock_conversion tsc_conversion(const struct tsc_anchor *anchor, uint64_t rate);

#endif
