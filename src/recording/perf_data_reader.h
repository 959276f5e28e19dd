/* Reads perf.data files, ours and anybody's.
 *
 * The file is mapped; records point into the mapping and into memory of the reader, so they live
 * until perf_data_close. Every size is checked against the file. Damage does not fail the whole:
 * what was read before it is returned and `damage` says what is wrong at which offset.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_READER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_READER_H

#include "base/error.h"
#include "recording/perf_data.h"
#include "recording/side_band.h"

#include <stddef.h>

struct perf_data {
    char *path;
    struct pt_setup setup;
    bool has_setup; /* there is an AUXTRACE_INFO record of Intel PT */
    struct cpu_identity cpu;
    struct side_band_record *records; /* sorted by time, stable; records without time first */
    size_t record_count;
    struct aux_chunk *chunks; /* in file order */
    size_t chunk_count;
    struct error damage;             /* code ERROR_NONE when the file is whole */
    struct perf_data_memory *memory; /* private to the reader */
};

/* False when nothing at all can be read (no such file, not perf.data, header damaged). */
bool perf_data_open(struct perf_data *data, const char *path, struct error *error);
void perf_data_close(struct perf_data *data);

/* False, saying so, when the file holds no packets of Intel PT. */
bool perf_data_check_packets(const struct perf_data *data, struct error *error);

#endif
