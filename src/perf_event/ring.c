#include "perf_event/ring.h"

#include "perf_event/permissions.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

bool perf_ring_open(struct perf_ring *ring, const struct kernel *kernel, int event, uint64_t size,
                    bool backward, struct error *error)
{
    *ring = (struct perf_ring){
        .kernel = kernel, .size = size, .backward = backward, .wrapped = array_of(1)};
    /* The kernel overwrites rings that are mapped read-only. */
    int protection = backward ? PROT_READ : PROT_READ | PROT_WRITE;
    void *memory = kernel->map(kernel, page_size() + size, protection, event, 0);
    if (memory == MAP_FAILED)
        return event_ring_refused(error, kernel, size, errno);
    ring->page = memory;
    ring->data = (const uint8_t *)memory + page_size();
    return true;
}

void perf_ring_close(struct perf_ring *ring)
{
    if (ring->page)
        ring->kernel->unmap(ring->kernel, ring->page, page_size() + ring->size);
    ring->page = NULL;
    array_free(&ring->wrapped);
}

/* The kernel writes records, then the head; so it is read first. */
static uint64_t head_of(const struct perf_ring *ring)
{
    uint64_t head = *(volatile __u64 *)&ring->page->data_head;
    atomic_thread_fence(memory_order_acquire);
    return head;
}

void perf_ring_begin(struct perf_ring *ring)
{
    uint64_t head = head_of(ring);
    /* In a backward ring the head counts down from 0, and the records from it on are as old as the
     * ring is long, or the recording. */
    ring->next = ring->backward ? head : ring->page->data_tail;
    if (!ring->backward)
        ring->end = head;
    else
        ring->end = -head < ring->size ? 0 : head + ring->size;
}

static const uint8_t *place_of(const struct perf_ring *ring, uint64_t position)
{
    return ring->data + (position & (ring->size - 1));
}

/* Records begin at multiples of 8, so a header is never cut by the ring's end. */
static const struct perf_event_header *whole(struct perf_ring *ring, size_t size)
{
    const uint8_t *first = place_of(ring, ring->next);
    size_t until_end = (size_t)(ring->data + ring->size - first);
    if (size <= until_end)
        return (const struct perf_event_header *)first;
    ring->wrapped.count = 0;
    array_add_all(&ring->wrapped, first, until_end);
    array_add_all(&ring->wrapped, ring->data, size - until_end);
    return ring->wrapped.elements;
}

const struct perf_event_header *perf_ring_next(struct perf_ring *ring)
{
    uint64_t left = ring->end - ring->next;
    struct perf_event_header header;
    if (left < sizeof header)
        return NULL;
    memcpy(&header, place_of(ring, ring->next), sizeof header);
    /* The oldest record of a backward ring may be half overwritten. */
    if (header.size < sizeof header || header.size % 8 || header.size > left) {
        ring->next = ring->end;
        return NULL;
    }
    const struct perf_event_header *record = whole(ring, header.size);
    ring->next += header.size;
    return record;
}

void perf_ring_release(struct perf_ring *ring)
{
    atomic_thread_fence(memory_order_release);
    *(volatile __u64 *)&ring->page->data_tail = ring->next;
}
