#include "runtime/qemu_plugin/ring.h"

#include "engine/packets/private_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct pt_encoder) <= sizeof((struct packet_ring *)0)->encoder,
               "the encoder's state fits into the ring's header");

/* Bytes of disk that a ring takes when it begins, and by which it grows at most: it doubles until
 * then. Most threads and processes are short, and there can be many thousands of them. */
enum { FIRST_STEP = 64 << 10, LARGEST_STEP = 4 << 20 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_size(const struct ring *ring)
{
    return ring->header->size + smaller(ring->header->size, ring->largest_step);
}

/* Packets may be written up to there without asking. */
static void set_snapshot_limit(struct ring *ring)
{
    bool whole = ring->allocated == ring->header->size;
    ring_encoder(ring)->limit = whole ? UINT64_MAX : ring->allocated - PT_ENCODER_SLACK;
}

/* Maps header, packets, and the packets once more after them; also the parts that have no disk
 * space yet. */
static bool map_snapshot(struct ring *ring, int descriptor, size_t size)
{
    size_t whole = PACKET_RING_PAGE + 2 * size;
    uint8_t *start =
        mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return false;
    int protection = PROT_READ | PROT_WRITE;
    int flags = MAP_SHARED | MAP_FIXED;
    uint8_t *second = start + PACKET_RING_PAGE + size;
    if (mmap(start, PACKET_RING_PAGE + size, protection, flags, descriptor, 0) == MAP_FAILED ||
        mmap(second, size, protection, flags, descriptor, PACKET_RING_PAGE) == MAP_FAILED ||
        !private_file_extend(descriptor, PACKET_RING_PAGE + size)) {
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
                           (off_t)(PACKET_RING_PAGE + start));
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
    void *header = mmap(NULL, PACKET_RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (header == MAP_FAILED)
        return false;
    ring->header = header;
    if (map_window(ring, descriptor, 0, FIRST_STEP))
        return true;
    munmap(header, PACKET_RING_PAGE);
    return false;
}

bool ring_create(struct ring *ring, struct qemu_control *control, const char *directory, pid_t pid,
                 pid_t tid)
{
    const struct qemu_options *options = &control->options;
    uint32_t serial = atomic_fetch_add(&control->next_ring, 1);
    /* With several snapshots the file is used from its beginning on, and the parts that no snapshot
     * needs are returned to the file system: kept_ranges.h. In small steps, because that is decided
     * for whole steps. */
    bool linear = options->full_execution || options->trigger.multi_snapshot;
    uint64_t size = linear ? FIRST_STEP : options->snapshot_size;
    bool small = !options->full_execution && options->snapshot_size < LARGEST_STEP;
    *ring = (struct ring){
        .allocated = smaller(size, FIRST_STEP),
        .largest_step = !small                                ? LARGEST_STEP
                        : options->snapshot_size > FIRST_STEP ? options->snapshot_size
                                                              : FIRST_STEP,
    };
    int length = snprintf(ring->path, sizeof ring->path, "%s/soft/ring.%u", directory, serial);
    int descriptor = length < (int)sizeof ring->path
                         ? private_file_open(ring->path, O_RDWR | O_CREAT | O_EXCL)
                         : -1;
    bool ok = descriptor >= 0 &&
              private_file_allocate(descriptor, PACKET_RING_PAGE + ring->allocated) &&
              (linear ? map_full(ring, descriptor) : map_snapshot(ring, descriptor, (size_t)size));
    if (descriptor >= 0) {
        close(descriptor);
        if (!ok)
            unlink(ring->path);
    }
    if (!ok) {
        atomic_fetch_add(&control->lost_rings, 1);
        return false;
    }
    struct packet_ring *header = ring->header;
    header->version = PACKET_RING_VERSION;
    header->serial = serial;
    header->pid = (uint32_t)pid;
    header->tid = (uint32_t)tid;
    header->full = linear;
    header->size = size;
    if (!linear) {
        struct pt_encoder *encoder = ring_encoder(ring);
        encoder->packets = (uint8_t *)header + PACKET_RING_PAGE;
        encoder->mask = size - 1;
        set_snapshot_limit(ring);
    }
    atomic_signal_fence(memory_order_release);
    header->magic = PACKET_RING_MAGIC; /* now it is a ring */
    return true;
}

/* Where the disk has no more, the ring stays as small as it is: the newest packets go over the
 * oldest from now on. */
static bool settle_for_less(struct ring *ring)
{
    uint8_t *packets = ring->window + PACKET_RING_PAGE, *again = packets + ring->allocated;
    /* An old size of 0 maps the same pages once more, and needs no descriptor. */
    if (mremap(packets, 0, ring->allocated, MREMAP_MAYMOVE | MREMAP_FIXED, again) == MAP_FAILED)
        return false;
    ring_encoder(ring)->mask = ring->allocated - 1;
    ring->header->size = ring->allocated;
    return true;
}

/* Backs more of the mapped file with disk space: in place, which a program can that has given up
 * the right to open it; by the file, on a kernel before 5.14. */
static bool back_up_to(struct ring *ring, uint64_t size)
{
    if (madvise(ring->window + PACKET_RING_PAGE + ring->allocated, size - ring->allocated,
                MADV_POPULATE_WRITE) == 0)
        return true;
    int descriptor = private_file_open(ring->path, O_RDWR);
    bool ok = descriptor >= 0 && private_file_allocate(descriptor, PACKET_RING_PAGE + size);
    if (descriptor >= 0)
        close(descriptor);
    return ok;
}

static bool grow_snapshot(struct ring *ring)
{
    uint64_t wanted = smaller(2 * ring->allocated, ring->header->size);
    if (back_up_to(ring, wanted))
        ring->allocated = wanted;
    else if (!settle_for_less(ring))
        return false;
    set_snapshot_limit(ring);
    return true;
}

static bool grow_full(struct ring *ring)
{
    uint64_t start = atomic_load(&ring_encoder(ring)->head) / PACKET_RING_PAGE * PACKET_RING_PAGE;
    uint64_t end = next_size(ring);
    int descriptor = private_file_open(ring->path, O_RDWR);
    bool ok = descriptor >= 0 && private_file_allocate(descriptor, PACKET_RING_PAGE + end) &&
              map_window(ring, descriptor, start, end);
    if (descriptor >= 0)
        close(descriptor);
    return ok;
}

bool ring_advance(struct ring *ring)
{
    bool ok = ring->header->full ? grow_full(ring) : grow_snapshot(ring);
    if (!ok)
        atomic_store(&ring->header->out_of_space, 1);
    return ok;
}

void ring_close(struct ring *ring)
{
    struct packet_ring *header = ring->header;
    if (!header)
        return;
    bool full = header->full;
    if (ring->window)
        munmap(ring->window, ring->window_size);
    if (full)
        munmap(header, PACKET_RING_PAGE);
    ring->header = NULL;
    ring->window = NULL;
}
