/* All packets of a range of bytes, one after the other, from its first byte to its last.
 *
 * Called by those who show or count single packets: `dump -packets`, `decode -stats`. Bytes that
 * are no packet are skipped one at a time, as `perf script -D` does, so that nothing is hidden.
 * Decoders continue at the next PSB instead, because packets read from the wrong offset would
 * mislead them.
 */
#ifndef MAGIC_TRACE_PACKET_PACKET_WALK_H
#define MAGIC_TRACE_PACKET_PACKET_WALK_H

#include "packet/packet_decoder.h"

struct pt_packet_walk {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    size_t next;        /* offset of the next packet; 0 to begin with */
    unsigned item_size; /* of the block that `next` is in; 0 to begin with */
};

/* One packet, or with a status other than PT_PACKET_OK a byte that begins no packet: then only
 * `size` is set. */
struct pt_walked_packet {
    size_t offset;
    enum pt_packet_status status;
    struct pt_packet packet;
};

/* False at the end. */
bool pt_packet_walk_next(struct pt_packet_walk *walk, struct pt_walked_packet *walked);

#endif
