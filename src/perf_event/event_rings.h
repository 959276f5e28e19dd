/* One or more kinds of event on many threads, and the ring buffers that they write into.
 *
 * Either each thread has a ring of its own, or all threads share one ring per processor. Only the
 * second way traces threads and processes that are created later (attr.inherit): the kernel refuses
 * to map the ring of an event that is inherited and not bound to a processor (perf_mmap() in
 * kernel/events/core.c of Linux).
 *
 * Used by engine/pt/ and engine/sample/. Descriptors and mappings live until event_rings_close.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_EVENT_RINGS_H
#define MAGIC_TRACE_PERF_EVENT_EVENT_RINGS_H

#include "base/array.h"
#include "perf_event/file_limit.h"
#include "perf_event/ring.h"
#include "recording/perf_data/raw_perf_data_writer.h"

struct ring_event {
    int descriptor;
    pid_t tid;
    uint64_t id;
    unsigned kind; /* event_rings.kind when it was opened */
};

struct event_ring {
    struct perf_ring records;
    uint32_t tid;        /* UINT32_MAX: of a processor */
    uint32_t cpu;        /* UINT32_MAX: of a thread */
    struct array events; /* struct ring_event: those that write into it; the first has mapped it */
    size_t listener;     /* index of the event that epoll waits for; beyond the last: all threads
                          * have ended */
};

struct event_rings {
    const struct kernel *kernel;
    /* Of events to be opened. With write_backward, rings are overwritten. To add another kind of
     * event to existing rings, the caller sets its attributes here, and in `kind` a number by which
     * it recognizes the events. */
    struct perf_event_attr attributes;
    unsigned kind;
    const struct array *processors; /* of int, borrowed; NULL: a ring per thread */
    uint64_t size;                  /* of each ring */
    struct array rings;             /* struct event_ring */
    int descriptor;                 /* an epoll descriptor: readable when there is much to read */
    struct file_limit file_limit;
    bool unmapped; /* the last refusal was of a ring's mapping, not of an event */
};

/* Prepares; no event is opened yet. Close in any case; rings that are all zero may be closed, too.
 */
bool event_rings_begin(struct event_rings *rings, const struct kernel *kernel,
                       const struct perf_event_attr *attributes, const struct array *processors,
                       uint64_t size, struct error *error);
void event_rings_close(struct event_rings *rings);

/* Opens the event on a thread. 0, or the errno of perf_event_open or mmap: ESRCH, the thread has
 * ended; EBUSY, it has such an event. Events that were opened before the failure stay open. */
int event_rings_add_thread(struct event_rings *rings, pid_t tid);

/* The same for a kernel that may refuse some of rings->attributes, which are then changed to those
 * that it accepts: with `any_precision`, precise_ip becomes the highest possible; children inherit
 * too where threads alone cannot (before Linux 5.13). */
int event_rings_add_fitting(struct event_rings *rings, pid_t tid, bool any_precision);

/* PERF_EVENT_IOC_ENABLE, DISABLE and so on, to all events of one ring, or of all. */
void event_ring_control(const struct event_rings *rings, const struct event_ring *ring,
                        unsigned long request);
void event_rings_control(const struct event_rings *rings, unsigned long request);

/* A descriptor that hangs up (POLLHUP) when a thread and all that has inherited its events have ended; -1: all have. Polling it takes
 * the readiness of its ring (perf_poll() of Linux), so it comes after the descriptor of the rings. */
int event_rings_recorded(const struct event_rings *rings);

/* Writes the ids of the events' records to the file: events of kind 0 are its event `first`. */
void event_rings_write_ids(const struct event_rings *rings, struct raw_perf_data_writer *writer,
                           size_t first);

/* In a process that was forked after the events were opened: maps their rings there. */
bool event_rings_map_again(struct event_rings *rings, struct error *error);

/* Handles readiness of the descriptor; the caller then reads all rings. */
void event_rings_handle(struct event_rings *rings);

static inline struct event_ring *event_ring_at(const struct event_rings *rings, size_t index)
{
    return array_at(&rings->rings, index);
}

static inline struct ring_event *ring_event_at(const struct event_ring *ring, size_t index)
{
    return array_at(&ring->events, index);
}

#endif
