/* Values that programs wrote into their trace by the PTWRITE instruction.
 *
 * They do not bear on the control flow, so they are looked for in the packets by themselves.
 * Recordings of which nobody asked for them have none: the PTWRITE packets of the soft engine tell
 * of the stack (packet/told_calls.h).
 *
 * Called by stack/sample_spans.c. Source: Intel SDM volume 3, "Intel Processor Trace", "PTWRITE
 * Packet" and IA32_RTIT_CTL.PTWEn.
 */
#ifndef MAGIC_TRACE_FLOW_WRITTEN_VALUES_H
#define MAGIC_TRACE_FLOW_WRITTEN_VALUES_H

#include "base/array.h"
#include "recording/perf_data_reader.h"

struct written_value {
    struct nanoseconds time; /* of perf's clock */
    uint32_t tid;            /* who wrote it; UINT32_MAX: not known */
    uint64_t value;
};

/* Appends those of all threads, each thread's in their order. */
void written_values_find(struct array *values, const struct perf_data *data);

#endif
