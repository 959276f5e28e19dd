#include "runtime/qemu_plugin/kept_ranges.h"

#include "engine/packets/private_file.h"

#include <fcntl.h>
#include <unistd.h>

/* Where the file system cannot, or the program has lost the right to, the disk keeps it. */
static void give_back(const struct ring *ring, uint64_t begin, uint64_t end)
{
    begin = (begin + PACKET_RING_PAGE - 1) / PACKET_RING_PAGE * PACKET_RING_PAGE;
    end = end / PACKET_RING_PAGE * PACKET_RING_PAGE;
    int descriptor = begin < end ? private_file_open(ring->path, O_RDWR) : -1;
    if (descriptor < 0)
        return;
    fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)(PACKET_RING_PAGE + begin), (off_t)(end - begin));
    close(descriptor);
}

void kept_ranges_settle(struct ring *ring, struct sideband *log,
                        const struct sideband_subject *subject)
{
    struct packet_ring *header = ring->header;
    uint64_t head = atomic_load(&ring_encoder(ring)->head);
    uint64_t reach = log->control->options.snapshot_size;
    uint64_t undecided = atomic_load(&header->undecided);
    uint64_t snapshots = atomic_load(&log->control->snapshots);
    bool taken = snapshots != atomic_load(&header->seen_snapshots);
    if (taken || atomic_load(&header->owed)) {
        struct logged_kept kept = {.begin = undecided, .end = head};
        sideband_kept(log, subject, &kept);
        undecided = head;
    } else if (head > reach && head - reach > undecided) {
        give_back(ring, undecided, head - reach);
        undecided = head - reach;
    }
    atomic_store(&header->undecided, undecided);
    atomic_store(&header->owed, taken);
    atomic_store(&header->seen_snapshots, snapshots);
}
