/* The header of a perf.data file in the form of a file, and the sections that it names: events and
 * features.
 *
 * Used by perf_data_reader.c, private to recording/perf_data.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_HEADER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_HEADER_H

#include "recording/perf_data/perf_data_input.h"

#include <stdint.h>

/* Fills in the events and the features. *begin and *end bound the records. False when their
 * beginning or the events are missing. */
bool perf_data_header_read(struct perf_data_input *input, const struct file_view *view,
                           uint64_t *begin, uint64_t *end, struct error *error);

#endif
