/* The header of a perf.data file in the form of a file, and the sections that it names: events and
 * features.
 *
 * Used by perf_data_reader.c, private to this room.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_HEADER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_HEADER_H

#include "recording/perf_data/perf_data_input.h"

#include <stdint.h>

/* Fills in the events and what the features say. *begin and *end are where the records lie. False
 * when not even their beginning is in the file, or its events are not. */
bool perf_data_header_read(struct perf_data_input *input, const struct file_view *view,
                           uint64_t *begin, uint64_t *end, struct error *error);

#endif
