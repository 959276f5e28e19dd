/* What the first packets of a trace segment of a thread's ring say and perf does not report: where
 * and when code continues if the trace segment begins in the middle, and the active calls there, if
 * the recorder emitted them (packet/callchain_snapshot.h).
 *
 * perf reports from the first taken branch on, so perf_decoder.c reads these few packets itself.
 * Callchain snapshots after later PSBs would be useful only after packets that could not be
 * decoded; perf does not say at which PSB it continues then.
 */
#ifndef MAGIC_TRACE_DECODE_PT_RING_BEGINNING_H
#define MAGIC_TRACE_DECODE_PT_RING_BEGINNING_H

#include "base/array.h"
#include "decode/pt/trace_stream.h"

struct ring_beginning {
    uint64_t ip; /* 0: code is not being executed, or the address is unknown */
    struct ticks time;
    struct array reported; /* uint64_t: payloads of MNT packets, for control_flow_mnt */
};

void ring_beginning_read(struct ring_beginning *beginning, const struct trace_segment *segment);
void ring_beginning_free(struct ring_beginning *beginning);

#endif
