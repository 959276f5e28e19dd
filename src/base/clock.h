/* The two kinds of time, and the conversion between them.
 *
 * Packets carry ticks of the processor's time-stamp counter; people, perf's records and trace files
 * use nanoseconds. They are different C types so that one cannot be taken for the other. Ticks live
 * in decode/ and stack/; nanoseconds in output/ and what follows it, and in recording/'s sideband
 * records.
 *
 * The conversion is the kernel's (struct perf_event_mmap_page in linux/perf_event.h,
 * cap_user_time_zero):
 *
 *     quot = ticks >> shift
 *     rem  = ticks & ((1 << shift) - 1)
 *     ns   = zero + quot * mult + ((rem * mult) >> shift)
 */
#ifndef MAGIC_TRACE_BASE_CLOCK_H
#define MAGIC_TRACE_BASE_CLOCK_H

#include <stdint.h>

struct ticks {
    uint64_t value;
};

struct nanoseconds {
    uint64_t value;
};

struct clock_conversion {
    uint64_t zero; /* nanoseconds at tick 0; may have wrapped below zero */
    uint32_t mult;
    uint16_t shift;
};

static inline struct nanoseconds clock_to_nanoseconds(const struct clock_conversion *clock,
                                                      struct ticks ticks)
{
    uint64_t quotient = ticks.value >> clock->shift;
    uint64_t remainder = ticks.value & (((uint64_t)1 << clock->shift) - 1);
    return (struct nanoseconds){clock->zero + quotient * clock->mult +
                                ((remainder * clock->mult) >> clock->shift)};
}

/* The inverse as perf computes it (perf_time_to_tsc); a mult of 0 gives 0. */
struct ticks clock_to_ticks(const struct clock_conversion *clock, struct nanoseconds time);

#endif
