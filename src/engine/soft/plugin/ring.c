#include "engine/soft/plugin/ring.h"

#include "engine/soft/plugin/private_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct pt_encoder) <= sizeof((struct soft_ring *)0)->encoder,
               "the encoder's state fits into the ring's header");

enum {
    FULL_STEP = 4 << 20, /* bytes by which the file of a full execution grows */
};

/* Header, packets, and the packets again behind them. */
static bool map_snapshot(struct ring *ring, int descriptor, size_t size)
{
    size_t whole = SOFT_PAGE + 2 * size;
    uint8_t *start =
        mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return false;
    int protection = PROT_READ | PROT_WRITE;
    int flags = MAP_SHARED | MAP_FIXED;
    uint8_t *second = start + SOFT_PAGE + size;
    if (mmap(start, SOFT_PAGE + size, protection, flags, descriptor, 0) == MAP_FAILED ||
        mmap(second, size, protection, flags, descriptor, SOFT_PAGE) == MAP_FAILED) {
        munmap(start, whole);
        return false;
    }
    ring->header = (void *)start;
    ring->window = start;
    ring->window_size = whole;
    return true;
}

/* Maps packets from stream position `start` (a multiple of the page size) to `end`. */
static bool map_window(struct ring *ring, int descriptor, uint64_t start, uint64_t end)
{
    size_t size = (size_t)(end - start);
    uint8_t *window = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                           (off_t)(SOFT_PAGE + start));
    if (window == MAP_FAILED)
        return false;
    if (ring->window)
        munmap(ring->window, ring->window_size);
    ring->window = window;
    ring->window_size = size;
    ring->header->size = end;

    struct pt_encoder *encoder = ring_encoder(ring);
    encoder->packets = window - start;
    encoder->mask = UINT64_MAX;
    encoder->limit = end - PT_ENCODER_SLACK;
    return true;
}

static bool map_full(struct ring *ring, int descriptor)
{
    void *header = mmap(NULL, SOFT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (header == MAP_FAILED)
        return false;
    ring->header = header;
    if (map_window(ring, descriptor, 0, FULL_STEP))
        return true;
    munmap(header, SOFT_PAGE);
    return false;
}

bool ring_create(struct ring *ring, struct soft_control *control, const char *directory, pid_t pid,
                 pid_t tid)
{
    const struct soft_options *options = &control->options;
    uint32_t serial = atomic_fetch_add(&control->next_ring, 1);
    uint64_t size = options->full_execution ? FULL_STEP : options->snapshot_size;
    *ring = (struct ring){0};
    int length = snprintf(ring->path, sizeof ring->path, "%s/soft/ring.%u", directory, serial);
    int descriptor = length < (int)sizeof ring->path
                         ? private_file_open(ring->path, O_RDWR | O_CREAT | O_EXCL)
                         : -1;
    bool ok = descriptor >= 0 && private_file_allocate(descriptor, SOFT_PAGE + size) &&
              (options->full_execution ? map_full(ring, descriptor)
                                       : map_snapshot(ring, descriptor, (size_t)size));
    if (descriptor >= 0) {
        close(descriptor);
        if (!ok)
            unlink(ring->path);
    }
    if (!ok) {
        atomic_fetch_add(&control->lost_rings, 1);
        return false;
    }
    struct soft_ring *header = ring->header;
    header->version = SOFT_VERSION;
    header->serial = serial;
    header->pid = (uint32_t)pid;
    header->tid = (uint32_t)tid;
    header->full = options->full_execution;
    header->size = size;
    if (!options->full_execution) {
        struct pt_encoder *encoder = ring_encoder(ring);
        encoder->packets = (uint8_t *)header + SOFT_PAGE;
        encoder->mask = size - 1;
        encoder->limit = UINT64_MAX;
    }
    atomic_signal_fence(memory_order_release);
    header->magic = SOFT_RING_MAGIC; /* now it is a ring */
    return true;
}

bool ring_advance(struct ring *ring)
{
    uint64_t start = atomic_load(&ring_encoder(ring)->head) / SOFT_PAGE * SOFT_PAGE;
    uint64_t end = ring->header->size + FULL_STEP;
    int descriptor = private_file_open(ring->path, O_RDWR);
    bool ok = descriptor >= 0 && private_file_allocate(descriptor, SOFT_PAGE + end) &&
              map_window(ring, descriptor, start, end);
    if (descriptor >= 0)
        close(descriptor);
    if (!ok)
        atomic_store(&ring->header->out_of_space, 1);
    return ok;
}

void ring_close(struct ring *ring)
{
    struct soft_ring *header = ring->header;
    if (!header)
        return;
    bool full = header->full;
    if (ring->window)
        munmap(ring->window, ring->window_size);
    if (full)
        munmap(header, SOFT_PAGE);
    ring->header = NULL;
    ring->window = NULL;
}
