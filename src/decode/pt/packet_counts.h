/* How many packets of each kind a recording holds.
 *
 * Counted in a separate pass over the packets, so that it costs normal decoding nothing. Called by
 * `decode -stats`.
 */
#ifndef MAGIC_TRACE_DECODE_PT_PACKET_COUNTS_H
#define MAGIC_TRACE_DECODE_PT_PACKET_COUNTS_H

#include "packet/packet_decoder.h"
#include "recording/perf_data/perf_data_reader.h"

struct packet_counts {
    uint64_t kinds[PT_PACKET_KINDS];
    uint64_t stray_bytes; /* bytes that begin no packet */
};

struct packet_counts packet_counts_of(const struct perf_data *data);

#endif
