/* Writes samples of call stacks into perf.data.
 *
 * A snapshot is the content of the rings of samples (sampling.h), which are overwritten until then;
 * of a full execution they are drained continuously. Other records are all kept.
 *
 * Used by sample.c.
 */
#ifndef MAGIC_TRACE_ENGINE_SAMPLE_SAMPLER_H
#define MAGIC_TRACE_ENGINE_SAMPLE_SAMPLER_H

#include "engine/sample/sampling.h"
#include "recording/perf_data/raw_perf_data_writer.h"

struct sampler {
    struct sampling sampling; /* its target NULL: not open */
    /* Per ring of samples: where the newest record was that a snapshot took. Shared with the process
     * that guards the recording. */
    uint64_t *taken;
    size_t taken_size;                   /* bytes */
    struct raw_perf_data_writer *writer; /* NULL: not open, or ended */
    struct live_facts facts;
    char names[1 + EXTRA_EVENTS][64]; /* of the events, for the writer */
    uint64_t lost;                    /* records that found no room */
};

/* All zero before. `sampler` outlives what is returned. */
struct live_recorder sampler_recorder(struct sampler *sampler);

#endif
