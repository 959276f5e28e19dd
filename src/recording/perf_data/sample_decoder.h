/* A PERF_RECORD_SAMPLE, as bytes of a perf.data file -> its fields that magic-trace uses.
 *
 * Used by record_decoder.c, private to recording/perf_data. Layout: enum perf_event_type in
 * linux/perf_event.h, at PERF_RECORD_SAMPLE: the fields that the event's sample_type includes, in a
 * fixed order.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_SAMPLE_DECODER_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_SAMPLE_DECODER_H

#include "recording/perf_data/byte_cursor.h"
#include "recording/perf_data/perf_data_events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
    uint32_t pid, tid;
    uint64_t time;        /* nanoseconds; 0: none */
    uint32_t cpu;         /* UINT32_MAX: none */
    uint64_t ip;          /* 0: none */
    uint64_t period;      /* 0: none */
    const uint8_t *chain; /* of calls: 64-bit words; NULL: none */
    size_t chain_count;
    const uint8_t *raw; /* of a tracepoint: its fields; NULL: none */
    size_t raw_size;
};

/* False when the record is too short. *rest, which may be NULL, is then what follows the raw fields
 * (recorded_stack.h). */
bool sample_decode(const struct perf_event_attr *attribute, const uint8_t *body, size_t size,
                   struct sample *sample, struct byte_cursor *rest);

#endif
