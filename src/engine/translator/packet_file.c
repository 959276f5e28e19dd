#include "engine/translator/packet_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct pt_encoder) <= sizeof((struct packet_ring *)0)->encoder,
               "the encoder's state fits into the header");

/* Bytes of disk that a file takes when it begins, and by which it grows at most. */
enum { FIRST_STEP = 64 << 10, LARGEST_STEP = 16 << 20 };

struct pt_encoder *packet_file_encoder(const struct packet_file *file)
{
    return (struct pt_encoder *)(void *)file->header->encoder;
}

static void *map(const struct packet_file *file, size_t size, off_t offset)
{
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, offset);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* The header is mapped for itself: the encoder in it works while the packets are moved. */
static bool map_packets(struct packet_file *file, uint64_t room)
{
    uint8_t *packets;
    if (file->packets) {
        void *moved = mremap(file->packets, file->room, room, MREMAP_MAYMOVE);
        packets = moved == MAP_FAILED ? NULL : moved;
    } else {
        packets = map(file, room, PACKET_RING_PAGE);
    }
    if (!packets)
        return false;
    file->packets = packets;
    file->room = room;
    file->header->size = room;
    struct pt_encoder *encoder = packet_file_encoder(file);
    encoder->packets = packets;
    encoder->mask = UINT64_MAX;
    encoder->limit = room - PT_ENCODER_SLACK;
    return true;
}

static int allocate(const struct packet_file *file, uint64_t room)
{
    return posix_fallocate(file->descriptor, 0, (off_t)(PACKET_RING_PAGE + room));
}

bool packet_file_create(struct packet_file *file, const char *folder, uint32_t serial,
                        struct error *error)
{
    *file = (struct packet_file){.path = memory_format("%s/ring.%u", folder, serial)};
    file->descriptor = open(file->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file->descriptor < 0) {
        error_set_errno(error, ERROR_IO, errno, "cannot make %s", file->path);
        packet_file_close(file);
        return false;
    }
    int failed = allocate(file, FIRST_STEP);
    if (failed == 0) {
        file->header = map(file, PACKET_RING_PAGE, 0);
        failed = file->header && map_packets(file, FIRST_STEP) ? 0 : errno;
    }
    if (failed) {
        error_set_errno(error, ERROR_IO, failed, "cannot allocate space for %s", file->path);
        unlink(file->path);
        packet_file_close(file);
        return false;
    }
    file->header->version = PACKET_RING_VERSION;
    file->header->serial = serial;
    file->header->full = 1;
    file->header->magic = PACKET_RING_MAGIC;
    return true;
}

bool packet_file_grow(struct packet_file *file)
{
    uint64_t step = file->room < LARGEST_STEP ? file->room : LARGEST_STEP;
    bool ok = allocate(file, file->room + step) == 0 && map_packets(file, file->room + step);
    if (!ok)
        atomic_store(&file->header->out_of_space, 1);
    return ok;
}

void packet_file_close(struct packet_file *file)
{
    if (file->header)
        munmap(file->header, PACKET_RING_PAGE);
    if (file->packets)
        munmap(file->packets, file->room);
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->path);
    *file = (struct packet_file){.descriptor = -1};
}
