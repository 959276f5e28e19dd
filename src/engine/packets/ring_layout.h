/* The file ring.SERIAL: the packets of one traced thread.
 *
 * Written by the qemu plugin inside the traced program, or by the translator's transcoder; read by
 * ring.c. All fields are little-endian native.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_RING_LAYOUT_H
#define MAGIC_TRACE_ENGINE_PACKETS_RING_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

enum {
    PACKET_RING_PAGE = 4096,
    PACKET_RING_MAGIC = 0x474e524d, /* "MRNG" */
    PACKET_RING_VERSION = 6,
};

/* Header of ring.SERIAL, in its first page; packets follow at PACKET_RING_PAGE. In snapshot mode the
 * packets of stream position P lie at P % size; in full execution at P, the file growing as needed.
 */
struct packet_ring {
    uint32_t magic; /* PACKET_RING_MAGIC */
    uint32_t version;
    uint32_t serial;
    uint32_t pid, tid;
    uint32_t full; /* bool: full execution */
    uint64_t size; /* bytes of packets the ring holds; in full execution: allocated so far */

    /* Set when this thread's recording ended in order (exit seen, frozen, out of space). */
    _Atomic uint32_t ended;
    _Atomic uint32_t out_of_space; /* recording stopped because the disk was full */
    uint64_t first_time;           /* ticks, of the first packet */
    /* With multi_snapshot: up to where it is decided what is kept, as a stream position; and how
     * many snapshots had been taken then. */
    _Atomic uint64_t undecided;
    _Atomic uint64_t seen_snapshots;
    _Atomic uint32_t owed; /* bool: what follows is kept, too: a snapshot was taken just before */

    /* The encoder's whole state (packet/encoder.h), so that what a killed thread had not yet
     * written can be. Its field `head` is the stream position up to which packets are valid. */
    _Alignas(64) unsigned char encoder[PACKET_RING_PAGE - 128];
};

_Static_assert(sizeof(struct packet_ring) <= PACKET_RING_PAGE, "packets begin on the second page");

#endif
