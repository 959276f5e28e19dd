/* Writes the kernel's records from the rings to perf.data.
 *
 * They are written unchanged, except switches of threads while packets are overwritten: those wait
 * (recent_records.h) until a snapshot is taken. Losses and untraced threads are counted on the way.
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PT_RECORDS_H
#define MAGIC_TRACE_ENGINE_PT_PT_RECORDS_H

#include "engine/pt/tracing.h"
#include "perf_event/recent_records.h"
#include "perf_event/untraced.h"
#include "recording/perf_data/raw_perf_data_writer.h"

struct pt_records {
    struct tracing *tracing;             /* borrowed */
    struct raw_perf_data_writer *writer; /* borrowed */
    struct nanoseconds first, last;      /* of all records */
    uint64_t lost_records, lost_packets; /* records that found no room; how often packets did not */
    bool must_go_on;                     /* an event has stopped because its area was full */
    struct untraced untraced;
    /* struct recent_records, one per ring of the sideband: not written yet */
    struct array switches;
};

/* The tracing is open. */
void pt_records_begin(struct pt_records *records, struct tracing *tracing,
                      struct raw_perf_data_writer *writer);
void pt_records_free(struct pt_records *records);

/* Takes what is in all rings. */
bool pt_records_drain(struct pt_records *records, struct error *error);

/* Writes the switches that have waited. */
bool pt_records_write_switches(struct pt_records *records, struct error *error);

#endif
