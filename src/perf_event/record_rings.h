/* The kernel's records of many events, in the order of their time: a ring per processor.
 *
 * The rings belong to events of our own, which count nothing and last as long as the recording, so
 * a ring stays readable when a traced thread ends. The output of other events is redirected to them
 * with PERF_EVENT_IOC_SET_OUTPUT, which requires the same processor and the same clock.
 *
 * Order. Each ring is in order (nearly: an interrupt may write between the moment when an event
 * takes the time and the moment when it writes), but another processor's ring may hold an earlier
 * record. So a record is returned when all rings have been read once more after it was read: by
 * then all records that other processors wrote earlier have been read.
 *
 * All events must be opened with sample_id_all, and sample_type PERF_SAMPLE_TID | TIME | ID,
 * samples also PERF_SAMPLE_IP and any fields that follow the id: so the time of a sample is 24
 * bytes after its beginning, that of another record 16 bytes before its end (perf_event_open(2)).
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
    size_t next, settled; /* indices into pending: of the next to return; of the first that may
                           * not be returned yet */
    uint64_t round;       /* how often all rings have been read */
    uint64_t lost;        /* records that did not fit into a ring */
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

/* Redirects the output of an event that is bound to a processor to its ring: 0, or an errno. */
int record_rings_lead(const struct record_rings *rings, size_t ring, int event);

/* Reads all records from the rings, which frees their space. */
void record_rings_read(struct record_rings *rings);

/* Where a record was found. */
struct record_origin {
    size_t ring;
    uint64_t round; /* the number of the reading that found it: it was written before that
                     * reading ended */
};

/* The next record; NULL: none has come yet. Valid until the next call of any function here. */
const struct perf_event_header *record_rings_next(struct record_rings *rings,
                                                  struct record_origin *origin);

/* The records that were read and not returned yet, by number, in no order; NULL: there are no more.
 */
const struct perf_event_header *record_rings_peek(const struct record_rings *rings, size_t number);

#endif
