/* Samples of call stacks on the threads of processes, and their way into perf.data.
 *
 * One thread of each process has a ring of its own; all threads, or child processes, share one per
 * processor, as new threads can join only there (event_rings.h). A snapshot is what such a ring
 * holds, which is overwritten until then; of a full execution it is drained all the time. Records
 * of mappings, names and births come in rings beside (side_band.h) and are all kept; when a thread
 * was switched off its processor is among the samples, so that it takes no room when they are gone.
 *
 * Used by sample.c.
 */
#ifndef MAGIC_TRACE_ENGINE_SAMPLE_SAMPLER_H
#define MAGIC_TRACE_ENGINE_SAMPLE_SAMPLER_H

#include "engine/perf_event/event_rings.h"
#include "engine/perf_event/live_session.h"
#include "engine/sample/sample_event.h"
#include "recording/raw_perf_data_writer.h"

struct sampler {
    const struct live_target *target; /* NULL: not open */
    struct sampling_means means;
    struct array processors; /* of int */
    struct event_rings side_band, samples;
    struct array tids;  /* of uint32_t, ascending: that are recorded */
    struct array taken; /* of uint64_t, per ring of samples: where the newest record was that
                           a snapshot took */
    struct raw_perf_data_writer *writer; /* NULL: not open, or ended */
    struct live_facts facts;
    char names[1 + EXTRA_EVENTS][64]; /* of the events, for the writer */
    uint64_t lost;                    /* records that found no room */
};

/* All zero before. `sampler` outlives what is returned. */
struct live_recorder sampler_recorder(struct sampler *sampler);

#endif
