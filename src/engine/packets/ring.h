/* A thread's file ring.SERIAL as the recorder sees it: the packets of one traced thread, put in
 * order.
 *
 * The layout is ring_layout.h's. A ring may belong to a thread that ended, that was killed between
 * any two instructions, or that is alive and frozen. The file is only read: it can be collected
 * again.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_RING_H
#define MAGIC_TRACE_ENGINE_PACKETS_RING_H

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/packets/ring_layout.h"
#include "packet/encoder.h"

#include <sys/uio.h>

struct ring {
    int descriptor; /* of the file */
    struct file_view file;
    const struct packet_ring *header; /* in `file` */
    struct pt_encoder encoder;        /* a copy of the header's; its pointers are invalid here */
    uint64_t room;                    /* bytes of packets that the file has place for */
};

/* Checked for magic, version and sizes. ERROR_NOT_FOUND when there is no such ring: its thread got
 * none. */
bool ring_open(struct ring *ring, const char *folder, uint32_t serial, struct error *error);
void ring_close(struct ring *ring);

/* The serials (of uint32_t) of the ring files that are there, in the order of their first packets: a thread that
 * executes another program goes on in another ring, whose serial may be lower. The caller frees the array. The control file's count is not asked: it can be damaged, and a thread may have got no
 * ring. */
struct array ring_list(const char *folder);

/* A contiguous trace segment that can be decoded: from the oldest PSB that is left to the end. */
struct ring_packets {
    uint64_t offset;       /* stream position of the first byte */
    uint64_t size;         /* bytes in all parts */
    struct iovec parts[3]; /* borrowed from the ring and from `drained` */
    size_t part_count;
    uint8_t drained[PT_DRAIN_SIZE]; /* what its thread had gathered but not yet written */
};

/* The packets that the ring holds from stream position `first` to `last`, each a border of packets
 * or outside of the ring. `packets->size` is 0 when none can be decoded. Do not copy the result. */
void ring_packets(struct ring_packets *packets, const struct ring *ring, uint64_t first,
                  uint64_t last);

#endif
