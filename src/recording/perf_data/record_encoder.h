/* A sideband record -> the bytes of a record of the kernel in a perf.data file.
 *
 * Used by the writer, private to recording/perf_data; record_decoder.h does the reverse. A record
 * is begun, filled and ended; the bytes stay in the encoder until the next one is begun. Layouts:
 * enum perf_event_type in linux/perf_event.h.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_ENCODER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_RECORD_ENCODER_H

#include "base/array.h"
#include "recording/sideband.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_encoder {
    uint64_t event_id; /* of the event that records are said to be of */
    /* of that event: what of PERF_SAMPLE_* ends every record, its sample id */
    uint64_t sample_type;
    bool per_cpu; /* context switches are those of a whole CPU */
    /* Of the current record, element_size 1; the owner of the encoder frees it. */
    struct array bytes;
};

void record_begin(struct record_encoder *encoder, uint32_t type, uint16_t misc);
void record_add(struct record_encoder *encoder, const void *bytes, size_t size);

/* Writes the size into the record's header. At most 65535 bytes were added; a sideband record has
 * far fewer. */
const struct array *record_end(struct record_encoder *encoder);

/* False for the kinds that only other people's recordings have. */
bool record_can_be_encoded(const struct sideband_record *record);

/* Begins and fills the record of the kernel that says what `record` says. */
void record_encode(struct record_encoder *encoder, const struct sideband_record *record);

#endif
