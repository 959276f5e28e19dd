/* How the packets were made: the AUXTRACE_INFO record of Intel PT and the CPUID feature of a
 * perf.data file.
 *
 * Used by the reader, private to recording/perf_data.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_SETUP_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_SETUP_H

#include "base/error.h"
#include "recording/perf_data/perf_data.h"
#include "recording/perf_data/perf_data_events.h"

#include <stddef.h>
#include <stdint.h>

/* `body` follows the record's header. False, with a sentence in `error` that lacks file and offset,
 * when the record is not of Intel PT or too short. Strings point into `body`. An impossible clock
 * counts as none. *switches: how context switches were recorded, enum pt_context_switches of
 * perf_file_format.h.
 */
bool pt_setup_decode(struct pt_setup *setup, const uint8_t *body, size_t size,
                     const struct perf_data_events *events, uint64_t *switches,
                     struct error *error);

/* From perf's "vendor,family,model,stepping", `size` bytes that need not end with a NUL. */
struct cpu_identity cpu_identity_parse(const char *text, size_t size);

#endif
