#include "engine/translator/packet_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct pt_encoder) <= sizeof((struct packet_ring *)0)->encoder,
               "the encoder's state fits into the header");

/* Bytes of disk that a file takes when it begins, and by which it grows at most. There may be many
 * thousands of files, so none stays open. */
static const uint64_t first_step = 64 << 10, largest_step = 16 << 20;

struct pt_encoder *packet_file_encoder(const struct packet_file *file)
{
    return (struct pt_encoder *)(void *)file->header->encoder;
}

static int open_file(const char *path, int flags)
{
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static void *map(int descriptor, size_t size, off_t offset)
{
    void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static void use_packets(struct packet_file *file, uint8_t *packets, uint64_t room)
{
    struct pt_encoder *encoder = packet_file_encoder(file);
    file->packets = packets;
    file->room = room;
    file->header->size = room;
    encoder->packets = packets;
    encoder->mask = UINT64_MAX;
    encoder->limit = room - PT_ENCODER_SLACK;
}

/* The header is mapped for itself: the encoder in it works while the packets are moved. */
static int map_file(struct packet_file *file, int descriptor, uint64_t room)
{
    file->header = map(descriptor, PACKET_RING_PAGE, 0);
    uint8_t *packets = file->header ? map(descriptor, room, PACKET_RING_PAGE) : NULL;
    if (!packets)
        return errno;
    use_packets(file, packets, room);
    return 0;
}

static bool finish(struct packet_file *file, int descriptor, int failed, struct error *error)
{
    if (descriptor >= 0)
        close(descriptor);
    if (!failed)
        return true;
    error_set_errno(error, failed == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, failed, "cannot use %s",
                    file->path);
    packet_file_close(file);
    return false;
}

bool packet_file_create(struct packet_file *file, const char *folder, uint32_t serial,
                        struct error *error)
{
    *file = (struct packet_file){.path = memory_format("%s/ring.%u", folder, serial)};
    int descriptor = open_file(file->path, O_CREAT | O_TRUNC);
    int failed = descriptor < 0 ? errno : 0;
    if (!failed)
        failed = posix_fallocate(descriptor, 0, (off_t)(PACKET_RING_PAGE + first_step));
    if (!failed)
        failed = map_file(file, descriptor, first_step);
    if (!failed) {
        struct packet_ring *header = file->header;
        header->version = PACKET_RING_VERSION;
        header->serial = serial;
        header->full = 1;
        header->magic = PACKET_RING_MAGIC;
    } else if (descriptor >= 0) {
        unlink(file->path);
    }
    return finish(file, descriptor, failed, error);
}

/* Only the end of the packets is used, and it must lie in the file. */
static bool is_usable(const struct packet_file *file, uint32_t serial)
{
    const struct packet_ring *header = file->header;
    const struct pt_encoder *encoder = packet_file_encoder(file);
    return header->magic == PACKET_RING_MAGIC && header->version == PACKET_RING_VERSION &&
           header->serial == serial && header->full && encoder->head <= encoder->limit;
}

/* What the encoder had gathered becomes a packet, and its state is as before it began. */
static void restart_encoder(const struct packet_file *file)
{
    struct pt_encoder *encoder = packet_file_encoder(file);
    struct pt_encoder begun = {
        .head = encoder->head,
        .instructions = encoder->instructions,
        .last_time = encoder->last_time,
        .packets = encoder->packets,
        .mask = encoder->mask,
        .limit = encoder->limit,
    };
    begun.head += pt_encoder_drain(encoder, file->packets + encoder->head);
    begun.next_psb = begun.head;
    *encoder = begun;
}

bool packet_file_open(struct packet_file *file, const char *folder, uint32_t serial,
                      struct error *error)
{
    *file = (struct packet_file){.path = memory_format("%s/ring.%u", folder, serial)};
    int descriptor = open_file(file->path, 0);
    struct stat status;
    int failed = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0;
    if (!failed && status.st_size <= (off_t)(PACKET_RING_PAGE + PT_ENCODER_SLACK))
        failed = ENOENT; /* its recorder was killed when it made it */
    if (!failed)
        failed = map_file(file, descriptor, (uint64_t)status.st_size - PACKET_RING_PAGE);
    if (!failed && !is_usable(file, serial))
        failed = ENOENT;
    if (!finish(file, descriptor, failed, error))
        return false;
    restart_encoder(file);
    return true;
}

bool packet_file_grow(struct packet_file *file)
{
    uint64_t room = file->room + (file->room < largest_step ? file->room : largest_step);
    int descriptor = open_file(file->path, 0);
    bool ok = descriptor >= 0 && posix_fallocate(descriptor, (off_t)(PACKET_RING_PAGE + file->room),
                                                 (off_t)(room - file->room)) == 0;
    void *moved = ok ? mremap(file->packets, file->room, room, MREMAP_MAYMOVE) : MAP_FAILED;
    if (moved != MAP_FAILED)
        use_packets(file, moved, room);
    else
        atomic_store(&file->header->out_of_space, 1);
    if (descriptor >= 0)
        close(descriptor);
    return moved != MAP_FAILED;
}

void packet_file_give_back(const struct packet_file *file, uint64_t begin, uint64_t end)
{
    enum { PAGE = PACKET_RING_PAGE };
    begin = (begin + PAGE - 1) / PAGE * PAGE;
    end = end / PAGE * PAGE;
    int descriptor = begin < end ? open_file(file->path, 0) : -1;
    if (descriptor < 0)
        return;
    fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(PAGE + begin),
              (off_t)(end - begin));
    close(descriptor);
}

void packet_file_trim(struct packet_file *file)
{
    enum { PAGE = PACKET_RING_PAGE };
    uint64_t used = packet_file_encoder(file)->head + PT_ENCODER_SLACK + 1;
    uint64_t room = (used + PAGE - 1) / PAGE * PAGE;
    int descriptor = room < file->room ? open_file(file->path, 0) : -1;
    if (descriptor < 0)
        return;
    if (ftruncate(descriptor, (off_t)(PAGE + room)) == 0) {
        void *smaller = mremap(file->packets, file->room, room, 0);
        if (smaller != MAP_FAILED)
            use_packets(file, smaller, room);
    }
    close(descriptor);
}

void packet_file_close(struct packet_file *file)
{
    if (file->header)
        munmap(file->header, PACKET_RING_PAGE);
    if (file->packets)
        munmap(file->packets, file->room);
    free(file->path);
    *file = (struct packet_file){0};
}
