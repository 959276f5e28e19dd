/* The ring of memory in which the kernel leaves an event's records.
 *
 * Two kinds (perf_event_open(2), "MMAP layout"; attr.write_backward):
 *   - forward: the kernel writes after the newest record and stops where what has not been read
 *     begins; what finds no room is counted in a PERF_RECORD_LOST. To be read while recording.
 *   - backward: the kernel writes in front of the newest record and overwrites the oldest. To be
 *     read when the event has been paused (PERF_EVENT_IOC_PAUSE_OUTPUT); newest first.
 *
 * Used by the engines; one reader per ring. No thread safety but towards the kernel.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_RING_H
#define MAGIC_TRACE_PERF_EVENT_RING_H

#include "base/array.h"
#include "base/error.h"
#include "perf_event/kernel.h"

struct perf_ring {
    const struct kernel *kernel;
    struct perf_event_mmap_page *page; /* NULL: not open */
    const uint8_t *data;
    uint64_t size; /* bytes of data, a power of two */
    bool backward;
    uint64_t next, end;   /* what is being read lies between these, counted from the beginning */
    struct array wrapped; /* a record whose end lies at the ring's beginning, made whole */
};

/* Maps the ring of `event` with `size` bytes of data: a power of two, at least a page. Backward
 * needs an event opened with attr.write_backward. */
bool perf_ring_open(struct perf_ring *ring, const struct kernel *kernel, int event, uint64_t size,
                    bool backward, struct error *error);
void perf_ring_close(struct perf_ring *ring);

/* Begins to read what is there now: forward rings from where perf_ring_release left off, backward
 * ones from the newest. */
void perf_ring_begin(struct perf_ring *ring);

/* The next whole record, NULL at the end; valid until the next call. */
const struct perf_event_header *perf_ring_next(struct perf_ring *ring);

/* Of forward rings: what has been read may be overwritten. */
void perf_ring_release(struct perf_ring *ring);

#endif
