/* What the first packets of a stretch of a thread's ring tell and perf does not: where and when its
 * code goes on when the stretch begins in the middle, and the calls in progress there, if the
 * recorder told them (packet/callchain_snapshot.h).
 *
 * perf begins to tell at the first taken branch, so perf_decoder.c reads these few packets itself.
 * What is told behind a later PSB is of use only where packets before it could not be decoded; perf
 * does not say which PSB it goes on from then.
 */
#ifndef MAGIC_TRACE_DECODE_PT_RING_BEGINNING_H
#define MAGIC_TRACE_DECODE_PT_RING_BEGINNING_H

#include "base/array.h"
#include "decode/pt/trace_stream.h"

struct ring_beginning {
    uint64_t ip; /* 0: code is not being executed, or not known */
    struct ticks time;
    struct array reported; /* uint64_t: payloads of MNT packets, for control_flow_mnt */
};

void ring_beginning_read(struct ring_beginning *beginning, const struct trace_segment *segment);
void ring_beginning_free(struct ring_beginning *beginning);

#endif
