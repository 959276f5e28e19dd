/* Who ran, what was mapped where, who was born and ended: the kernel's records about threads, of an
 * event that counts nothing (PERF_COUNT_SW_DUMMY).
 *
 * An event of its own, so that the records come while others are stopped, and of all threads of a
 * process, as any of them can map code. They arrive in a ring per processor.
 *
 * Source: perf_event_open(2); perf record does the same (evsel__config() in tools/perf/util/evsel.c
 * and intel_pt_recording_options() of Linux).
 */
#ifndef MAGIC_TRACE_PERF_EVENT_SIDEBAND_H
#define MAGIC_TRACE_PERF_EVENT_SIDEBAND_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* What each record of ours ends with, whatever the event: perf.data needs it to be the same. */
enum {
    SIDEBAND_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                           PERF_SAMPLE_CPU | PERF_SAMPLE_IP,
};

/* For event_rings_begin. `switches`: when threads come and go, too. `ring_size`: as
 * given to event_rings_begin. */
struct perf_event_attr sideband_attributes(bool switches, unsigned ring_size);

/* The same of the kernel's own code: eBPF programs that come and go, instructions that it patches.
 * For whole processors; needs Linux 5.9 and privileges. */
struct perf_event_attr sideband_of_kernel(unsigned ring_size);

#endif
