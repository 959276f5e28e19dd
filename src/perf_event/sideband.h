/* The sideband event: the kernel's records of mappings, names, thread switches, and of threads that
 * are created and end. The event itself counts nothing (PERF_COUNT_SW_DUMMY).
 *
 * It is separate from other events, so that its records continue while those are stopped, and is
 * opened for all threads of a process, as any of them can map code. The records arrive in one ring
 * per processor.
 *
 * Source: perf_event_open(2); perf record does the same (evsel__config() in tools/perf/util/evsel.c
 * and intel_pt_recording_options() of Linux).
 */
#ifndef MAGIC_TRACE_PERF_EVENT_SIDEBAND_H
#define MAGIC_TRACE_PERF_EVENT_SIDEBAND_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* The fields that end each of our records, of every event: perf.data requires them to be equal. */
enum {
    SIDEBAND_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                           PERF_SAMPLE_CPU | PERF_SAMPLE_IP,
};

/* For event_rings_begin. `switches`: record thread switches too. `ring_size`: as given to
 * event_rings_begin. */
struct perf_event_attr sideband_attributes(bool switches, unsigned ring_size);

/* The same for the kernel's own code: eBPF programs that are loaded and unloaded, instructions that
 * it patches. For whole processors; needs Linux 5.9 and privileges. */
struct perf_event_attr sideband_of_kernel(unsigned ring_size);

#endif
