/* Samples of call stacks on the threads of processes: the events and their rings.
 *
 * If one thread per process is sampled, each has a ring of its own; all threads, or child
 * processes, share one per processor, as new threads can join only there (event_rings.h). Rings of
 * samples are overwritten, except in a full execution. Records of mappings, names and new threads
 * come in separate rings (sideband.h); thread switches are in the rings of samples, so that they
 * take no space once those samples are gone.
 *
 * Used by sampler.c.
 */
#ifndef MAGIC_TRACE_ENGINE_SAMPLE_SAMPLING_H
#define MAGIC_TRACE_ENGINE_SAMPLE_SAMPLING_H

#include "engine/live_session.h"
#include "engine/sample_event.h"
#include "perf_event/event_rings.h"

/* The kinds of events in the rings (struct ring_event.kind); those of -events follow. */
enum { SAMPLING_STACKS, SAMPLING_FIRST_EXTRA };

struct sampling {
    const struct live_target *target; /* borrowed */
    struct sampling_means means;
    struct array processors; /* of int */
    struct event_rings sideband, samples;
    struct array tids; /* of uint32_t, ascending: that are recorded */
};

/* Opens everything; no samples are taken yet. Close in any case. */
bool sampling_open(struct sampling *sampling, const struct live_target *target,
                   struct error *error);
void sampling_close(struct sampling *sampling);

static inline const struct processor_options *sampling_processor(const struct sampling *sampling)
{
    return &sampling->target->options->processor;
}

#endif
