/* Reads perf.data files, ours and those of other recorders: in the form of a file and in that of a
 * pipe, with compressed records (perf record -z), and in folders (perf record --threads, whose
 * files data.0, data.1 ... lie beside `path`).
 *
 * The file is mapped; records point into the mapping and into memory of the reader, so they live
 * until perf_data_close. Every size is checked against the file. Damage does not fail the whole:
 * the records before it are returned, and `damage` describes it with its offset.
 *
 * Records of types that magic-trace does not need are skipped, including those of later kernels.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_READER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_READER_H

#include "base/error.h"
#include "base/file.h"
#include "recording/perf_data/perf_data_contents.h"

/* False when the file cannot be read at all (no such file, not perf.data, header damaged). */
bool perf_data_open(struct perf_data *data, const char *path, struct error *error);

/* The same of bytes that are mapped already (file_map_input), which `data` owns from now on, also
 * when that fails; `path` says where they came from. */
bool perf_data_open_view(struct perf_data *data, struct file_view view, const char *path,
                         struct error *error);

/* Whether bytes are a perf.data file, of any form or byte order. */
bool perf_data_recognizes(const struct file_view *view);

void perf_data_close(struct perf_data *data);

/* False, saying so, when the file holds no packets of Intel PT. */
bool perf_data_check_packets(const struct perf_data *data, struct error *error);

#endif
