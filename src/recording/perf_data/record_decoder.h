/* One record of the kernel, as bytes of a perf.data file -> a side-band record.
 *
 * Used by record_row.c, private to this room. Layouts: enum perf_event_type in linux/perf_event.h.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_DECODER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_DECODER_H

#include "recording/perf_data/perf_data_input.h"
#include "recording/sideband.h"

#include <linux/perf_event.h>

enum record_outcome {
    RECORD_DECODED,
    RECORD_SKIPPED, /* of a type that nobody here needs */
    RECORD_DAMAGED, /* shorter than its type demands, or with a string that does not end */
};

/* `body` is what follows the header, header->size - sizeof *header bytes. Strings of the side-band
 * record point into it. Counts in `input` what it leaves out because it is of a guest. */
enum record_outcome record_decode(const struct perf_event_header *header, const uint8_t *body,
                                  struct perf_data_input *input, struct sideband_record *record);

#endif
