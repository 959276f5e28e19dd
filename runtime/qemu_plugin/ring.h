/* One thread's ring file, mapped by the thread that fills it.
 *
 * Snapshot mode: the packets' part of the file is mapped twice, side by side, so that a packet may
 * run over the end and lies whole in memory. Full execution: a window of one step moves over the
 * file; what was written is the kernel's to bring to disk. Either way disk space is taken in steps,
 * small ones first. The file is opened by name for them and closed again at once: the program's
 * descriptors stay its own.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_RING_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_RING_H

#include "engine/qemu/shared.h"
#include "packet/encoder.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ring {
    struct packet_ring *header; /* mapped, shared */
    uint8_t *window;            /* mapped packets; in snapshot mode the header lies before them */
    size_t window_size;         /* bytes */
    uint64_t allocated;         /* snapshot mode: bytes of packets that have disk space */
    uint64_t largest_step;      /* bytes by which it grows at most */
    char path[PATH_MAX];
};

/* Makes DIR/soft/ring.SERIAL with the next free serial and points its encoder's packets, mask and
 * limit at the mapped bytes. False when there is no space or no memory: control->lost_rings counts
 * it. */
bool ring_create(struct ring *ring, struct qemu_control *control, const char *directory, pid_t pid,
                 pid_t tid);

/* The encoder's limit was reached: takes more disk space. False when the disk is full (out_of_space is
 * set); in snapshot mode the ring then rather stays smaller than was asked for. */
bool ring_advance(struct ring *ring);

/* Unmaps; the file stays. Also for a child process that must let go of its parent's ring. */
void ring_close(struct ring *ring);

static inline struct pt_encoder *ring_encoder(const struct ring *ring)
{
    return (struct pt_encoder *)(void *)ring->header->encoder;
}

#endif
