/* The features of a perf.data file: its data about the recording besides records.
 *
 * Used by the reader, private to recording/perf_data. In the form of a file they are sections at
 * its end, in that of a pipe records; their contents are the same. Formats:
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RECORDED_FEATURES_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RECORDED_FEATURES_H

#include "recording/perf_data/byte_cursor.h"
#include "recording/perf_data/perf_data_input.h"

/* Takes what is used of the feature; others and damaged ones are passed over. The list of AUXTRACE
 * records (which needs the file) is not among them. */
void recorded_feature_take(struct perf_data_input *input, uint64_t feature,
                           struct byte_cursor contents);

/* One build id, as a record of pipe mode or an element of the feature: what follows its header. */
void recorded_build_id_take(struct perf_data_input *input, uint16_t misc,
                            struct byte_cursor contents);

/* An event's name, as pipe mode has it: a record EVENT_UPDATE. */
void recorded_event_name_take(struct perf_data_input *input, struct byte_cursor contents);

/* When all is read: fills in data->events and data->build_ids. */
void recorded_features_hand_over(struct perf_data_input *input);

#endif
