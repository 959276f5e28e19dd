/* The kernel's records of many events, in the order of their time: a ring per processor.
 *
 * The rings belong to events of our own, which count nothing and cannot end before us, so that no
 * end of a traced thread leaves a ring without anybody to wait for. Other events are led into them
 * with PERF_EVENT_IOC_SET_OUTPUT, which wants the same processor and the same clock.
 *
 * Order. Each ring is in order (nearly: an interrupt may write between an event's taking the time
 * and its writing), but another processor's ring may hold something earlier. A record is given out
 * when all rings have been read once more after it was read: what another processor wrote earlier
 * has been seen by then.
 *
 * All events have to be opened with sample_id_all, and sample_type PERF_SAMPLE_TID | TIME | ID,
 * samples also PERF_SAMPLE_IP and whatever follows the id: so the time of a sample stands 24 bytes
 * behind its beginning, that of another record 16 bytes before its end (perf_event_open(2)).
 */
#ifndef MAGIC_TRACE_PERF_EVENT_RECORD_RINGS_H
#define MAGIC_TRACE_PERF_EVENT_RECORD_RINGS_H

#include "base/array.h"
#include "perf_event/ring.h"

struct record_rings {
    const struct kernel *kernel;
    struct array rings;   /* of struct record_ring, one per processor */
    int descriptor;       /* an epoll descriptor: readable when there may be records */
    struct array bytes;   /* of uint8_t: records that have been read */
    struct array pending; /* of struct pending_record */
    size_t next, settled; /* of pending: not given out yet; may be given out */
    uint64_t round;       /* how often all rings have been read */
    uint64_t lost;        /* records that found no room in a ring */
};

struct record_ring {
    int processor;
    int owner; /* the event that has mapped the ring */
    struct perf_ring records;
};

/* `processors`: of int. `size`: bytes of each ring, a power of two, at least a page. */
bool record_rings_open(struct record_rings *rings, const struct kernel *kernel,
                       const struct array *processors, uint64_t size, struct error *error);
void record_rings_close(struct record_rings *rings);

/* Leads an event that is bound to a processor into its ring: 0, or an errno. */
int record_rings_lead(const struct record_rings *rings, size_t ring, int event);

/* Takes out of the rings what is there: makes room in them. */
void record_rings_read(struct record_rings *rings);

/* Where a record was found. */
struct record_origin {
    size_t ring;
    uint64_t round; /* in which reading; so it had been written before that reading ended */
};

/* The next record, NULL: there is none now. Valid until the next call of any function here. */
const struct perf_event_header *record_rings_next(struct record_rings *rings,
                                                  struct record_origin *origin);

/* Those that were read and not given out yet, by number, in no order; NULL: there are no more. */
const struct perf_event_header *record_rings_peek(const struct record_rings *rings, size_t number);

#endif
