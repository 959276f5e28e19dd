/* What the kernel is asked for, for samples: which event, how often, with which call stack.
 *
 * The event is the processor's cycles where the kernel offers its counters, else its own clock, by
 * which a thread is interrupted after so much time on a processor (cpu-clock).
 *
 * Source: perf_event_open(2); tools/perf/util/evsel.c of Linux (evsel__config_callchain()).
 */
#ifndef MAGIC_TRACE_ENGINE_SAMPLE_EVENT_H
#define MAGIC_TRACE_ENGINE_SAMPLE_EVENT_H

#include "base/error.h"
#include "engine/processor_options.h"
#include "perf_event/kernel.h"

/* How this machine samples. */
struct sampling_means {
    bool cycles;                   /* the processor's counters are there */
    enum callgraph_mode callgraph; /* never CALLGRAPH_DEFAULT */
    uint64_t frequency;            /* samples per second */
};

/* False when this user may not sample at all, or not with these options. */
bool sampling_means_find(struct sampling_means *means, const struct kernel *kernel,
                         const struct processor_options *options, struct error *error);

/* For event_rings_begin; inheritance, wakeups and direction are the caller's. */
struct perf_event_attr sample_event(const struct sampling_means *means, enum trace_scope scope);

/* An event beside, by -events. */
struct perf_event_attr sample_extra_event(const struct extra_event *event, enum trace_scope scope);

/* As perf calls them: "cycles:u"; into a buffer of `size` bytes, which is returned. */
const char *sample_event_name(char *name, size_t size, const char *kind, enum trace_scope scope);

/* "fp": as in session.json. */
const char *callgraph_mode_name(enum callgraph_mode mode);

#endif
