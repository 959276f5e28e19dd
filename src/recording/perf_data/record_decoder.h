/* One record of the kernel, as bytes of a perf.data file -> a sideband record.
 *
 * Used by record_row.c, private to recording/perf_data. Layouts: enum perf_event_type in
 * linux/perf_event.h.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_DECODER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_DECODER_H

#include "recording/perf_data/perf_data_input.h"
#include "recording/sideband.h"

#include <linux/perf_event.h>

enum record_outcome {
    RECORD_DECODED,
    RECORD_SKIPPED, /* of a type that magic-trace does not need */
    RECORD_DAMAGED, /* shorter than its type demands, or with a string that does not end */
};

/* `body` is what follows the header, header->size - sizeof *header bytes. Strings of the sideband
 * record point into it. Counts in `input` the records that it leaves out because they are of a
 * guest. */
enum record_outcome record_decode(const struct perf_event_header *header, const uint8_t *body,
                                  struct perf_data_input *input, struct sideband_record *record);

#endif
