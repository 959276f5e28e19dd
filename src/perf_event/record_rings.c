#include "perf_event/record_rings.h"

#include "perf_event/event_attributes.h"
#include "perf_event/permissions.h"
#include "perf_event/record_layouts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct pending_record {
    uint64_t time;
    struct record_origin origin;
    size_t offset; /* in bytes */
};

/* ---- opening ---- */

static bool open_ring(struct record_rings *rings, struct record_ring *ring, uint64_t size,
                      struct error *error)
{
    const struct kernel *kernel = rings->kernel;
    struct perf_event_attr attributes = dummy_attributes();
    attributes.disabled = 1;
    /* Every record wakes us. */
    attributes.watermark = 1;
    attributes.wakeup_watermark = 1;
    ring->owner = kernel->open_event(kernel, &attributes, getpid(), ring->processor, -1,
                                     PERF_FLAG_FD_CLOEXEC);
    if (ring->owner < 0) {
        struct event_request request = {"open a ring for the kernel's records", &attributes, 0,
                                        ring->processor};
        return event_refused(error, kernel, &request, errno);
    }
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(rings->descriptor, EPOLL_CTL_ADD, ring->owner, &event) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot wait for the kernel's records");
    return perf_ring_open(&ring->records, kernel, ring->owner, size, false, error);
}

bool record_rings_open(struct record_rings *rings, const struct kernel *kernel,
                       const struct array *processors, uint64_t size, struct error *error)
{
    *rings = (struct record_rings){
        .kernel = kernel,
        .rings = array_of(sizeof(struct record_ring)),
        .descriptor = epoll_create1(EPOLL_CLOEXEC),
        .bytes = array_of(1),
        .pending = array_of(sizeof(struct pending_record)),
    };
    bool ok = rings->descriptor >= 0 ||
              error_set_errno(error, ERROR_IO, errno, "cannot wait for the kernel's records");
    for (size_t i = 0; ok && i < processors->count; i++) {
        struct record_ring *ring = array_add(&rings->rings);
        ring->processor = *(const int *)array_at(processors, i);
        ok = open_ring(rings, ring, size, error);
    }
    if (!ok)
        record_rings_close(rings);
    return ok;
}

void record_rings_close(struct record_rings *rings)
{
    for (size_t i = 0; i < rings->rings.count; i++) {
        struct record_ring *ring = array_at(&rings->rings, i);
        perf_ring_close(&ring->records);
        if (ring->owner >= 0)
            close(ring->owner);
    }
    if (rings->descriptor >= 0)
        close(rings->descriptor);
    rings->descriptor = -1;
    array_free(&rings->rings);
    array_free(&rings->bytes);
    array_free(&rings->pending);
}

int record_rings_lead(const struct record_rings *rings, size_t ring, int event)
{
    const struct record_ring *into = array_at(&rings->rings, ring);
    int result = rings->kernel->control(rings->kernel, event, PERF_EVENT_IOC_SET_OUTPUT,
                                        (unsigned long)into->owner);
    return result == 0 ? 0 : errno;
}

/* ---- reading ---- */

/* In a sample, after the address and the thread; in others the last word but one: they end with
 * TID, TIME and ID. */
static uint64_t time_of(const struct perf_event_header *record)
{
    enum { OF_SAMPLE = 2, FROM_END = 2 };
    size_t words = record_words(record);
    if (record->type == PERF_RECORD_SAMPLE)
        return record_word(record, OF_SAMPLE);
    return words < FROM_END ? 0 : record_word(record, words - FROM_END);
}

static void take(struct record_rings *rings, size_t ring, const struct perf_event_header *record)
{
    rings->lost += record_lost(record);
    struct pending_record *pending = array_add(&rings->pending);
    *pending = (struct pending_record){
        .time = time_of(record), .origin = {ring, rings->round}, .offset = rings->bytes.count};
    array_add_all(&rings->bytes, record, record->size);
}

/* Records of the same time stay in the order in which they were read. */
static int by_time(const void *left, const void *right)
{
    const struct pending_record *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Drops the records that were returned; the others keep their order. */
static void forget_given(struct record_rings *rings)
{
    struct array bytes = array_of(1), pending = array_of(sizeof(struct pending_record));
    for (size_t i = rings->next; i < rings->pending.count; i++) {
        struct pending_record *old = array_at(&rings->pending, i);
        const struct perf_event_header *record = array_at(&rings->bytes, old->offset);
        struct pending_record *kept = array_add(&pending);
        *kept = *old;
        kept->offset = bytes.count;
        array_add_all(&bytes, record, record->size);
    }
    array_free(&rings->bytes);
    array_free(&rings->pending);
    rings->bytes = bytes;
    rings->pending = pending;
    rings->settled -= rings->next;
    rings->next = 0;
}

void record_rings_read(struct record_rings *rings)
{
    rings->round++;
    for (size_t i = 0; i < rings->rings.count; i++) {
        struct record_ring *ring = array_at(&rings->rings, i);
        const struct perf_event_header *record;
        perf_ring_begin(&ring->records);
        while ((record = perf_ring_next(&ring->records)) != NULL)
            take(rings, i, record);
        perf_ring_release(&ring->records);
    }
}

/* Reads all rings once more; records that were read before may then be returned. */
static void settle(struct record_rings *rings)
{
    size_t known = rings->pending.count;
    uint64_t newest = 0;
    for (size_t i = rings->next; i < known; i++) {
        const struct pending_record *record = array_at(&rings->pending, i);
        newest = record->time > newest ? record->time : newest;
    }
    record_rings_read(rings);
    if (rings->pending.count > 0)
        qsort(array_at(&rings->pending, rings->next), rings->pending.count - rings->next,
              sizeof(struct pending_record), by_time);
    rings->settled = rings->next;
    while (rings->settled < rings->pending.count &&
           (rings->pending.count == known ||
            ((struct pending_record *)array_at(&rings->pending, rings->settled))->time <= newest))
        rings->settled++;
}

const struct perf_event_header *record_rings_peek(const struct record_rings *rings, size_t number)
{
    if (number >= rings->pending.count - rings->next)
        return NULL;
    const struct pending_record *record = array_at(&rings->pending, rings->next + number);
    return array_at(&rings->bytes, record->offset);
}

const struct perf_event_header *record_rings_next(struct record_rings *rings,
                                                  struct record_origin *origin)
{
    while (rings->next == rings->settled) {
        forget_given(rings);
        settle(rings);
        if (rings->pending.count == 0)
            return NULL;
    }
    const struct pending_record *record = array_at(&rings->pending, rings->next++);
    *origin = record->origin;
    return array_at(&rings->bytes, record->offset);
}
