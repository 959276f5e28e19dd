/* A perf.data file while it is read: what the parts of the reader share, private to
 * recording/perf_data.
 *
 * Made by perf_data_reader.c. record_row.c fills in records and chunks, perf_data_header.c and
 * recorded_features.c all else.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_INPUT_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_INPUT_H

#include "base/array.h"
#include "recording/perf_data/perf_data_contents.h"
#include "recording/perf_data/perf_data_events.h"
#include "recording/perf_data/tracing_data.h"

struct perf_data_input {
    struct perf_data *data;
    struct perf_data_events events;
    struct array records;   /* struct sideband_record */
    struct array chunks;    /* struct aux_chunk */
    struct array build_ids; /* struct recorded_build_id */
    /* File offsets (uint64_t, ascending) at which, as the AUXTRACE feature says, AUXTRACE records
     * begin. They are places to go on at when what is before them is damaged. */
    struct array known_chunks;
    struct switch_format switch_format; /* of samples of sched:sched_switch */
    bool context_switches_sampled;      /* those samples say who runs */
    bool in_folder;                     /* the feature is set: more files lie beside this one */
    struct error refusal; /* why the file as a whole cannot be read; code ERROR_NONE when it can */
};

/* Where to describe the first damage; NULL once it is described. */
static inline struct error *input_damage(struct perf_data_input *input)
{
    return input->data->damage.code == ERROR_NONE ? &input->data->damage : NULL;
}

/* Keeps `bytes`, which were allocated, until perf_data_close. */
void perf_data_keep(struct perf_data *data, void *bytes);

#endif
