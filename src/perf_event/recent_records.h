/* Keeps the newest records of one ring: of thread switches, when packets are overwritten. A
 * recording may wait for days, and threads switch thousands of times a second.
 *
 * Used by engines of perf events, one per ring of a processor.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_RECENT_RECORDS_H
#define MAGIC_TRACE_PERF_EVENT_RECENT_RECORDS_H

#include "base/array.h"

#include <linux/perf_event.h>

/* At least this many bytes of the newest records are kept, at most twice as many. */
enum { RECENT_RECORDS_KEPT = 4 << 20 };

struct recent_records {
    struct array older, newer; /* of bytes: whole records, in their order */
};

void recent_records_begin(struct recent_records *records);
void recent_records_free(struct recent_records *records);

void recent_records_add(struct recent_records *records, const struct perf_event_header *record);

/* Drops all records: they have been written. */
void recent_records_clear(struct recent_records *records);

#endif
