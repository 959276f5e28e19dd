#include "engine/translator/transcode/packet_file.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(struct pt_encoder) <= sizeof((struct packet_ring *)0)->encoder,
               "the encoder's state fits into the header");

/* Of packets that are gathered: so few that they stay in a processor's cache. There may be many
 * thousands of files, so none stays open. */
enum { GATHERED = 256 << 10 };

static int open_file(const char *path, int flags)
{
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* The encoder writes stream position P at packets[P], and what is gathered begins at `written`. */
static void gather_from(struct packet_file *file, uint64_t position)
{
    struct pt_encoder *encoder = &file->encoder;
    file->written = position;
    encoder->packets = (uint8_t *)((uintptr_t)file->gathered - position);
    encoder->mask = UINT64_MAX;
    encoder->limit = position + GATHERED - PT_ENCODER_SLACK;
}

static int map_header(struct packet_file *file, int descriptor)
{
    void *mapped = mmap(NULL, PACKET_RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    file->header = mapped == MAP_FAILED ? NULL : mapped;
    file->gathered = memory_allocate(GATHERED);
    return file->header ? 0 : errno;
}

/* A recorder that is killed meanwhile loses branches, but what is there can be decoded. */
static void save_encoder(struct packet_file *file)
{
    struct pt_encoder *saved = (struct pt_encoder *)(void *)file->header->encoder;
    const struct pt_encoder *encoder = &file->encoder;
    size_t rest = offsetof(struct pt_encoder, work);
    saved->tnt = 1;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy((uint8_t *)saved + rest, (const uint8_t *)encoder + rest, sizeof *saved - rest);
    atomic_store_explicit(&saved->head, atomic_load(&encoder->head), memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    saved->tnt = encoder->tnt;
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
        failed = posix_fallocate(descriptor, 0, PACKET_RING_PAGE);
    if (!failed)
        failed = map_header(file, descriptor);
    if (!failed) {
        struct packet_ring *header = file->header;
        gather_from(file, 0);
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
static bool is_usable(const struct packet_file *file, uint32_t serial, uint64_t size)
{
    const struct packet_ring *header = file->header;
    const struct pt_encoder *encoder = (const struct pt_encoder *)(const void *)header->encoder;
    return header->magic == PACKET_RING_MAGIC && header->version == PACKET_RING_VERSION &&
           header->serial == serial && header->full && encoder->head <= size;
}

/* What the encoder had gathered becomes a packet, and its state is as before it began. */
static void restart_encoder(struct packet_file *file)
{
    const struct pt_encoder *saved = (const struct pt_encoder *)(const void *)file->header->encoder;
    uint64_t head = atomic_load(&saved->head);
    file->encoder = (struct pt_encoder){
        .instructions = saved->instructions,
        .last_time = saved->last_time,
    };
    gather_from(file, head);
    head += pt_encoder_drain(saved, file->gathered);
    atomic_store(&file->encoder.head, head);
    file->encoder.next_psb = head;
}

bool packet_file_open(struct packet_file *file, const char *folder, uint32_t serial,
                      struct error *error)
{
    *file = (struct packet_file){.path = memory_format("%s/ring.%u", folder, serial)};
    int descriptor = open_file(file->path, 0);
    struct stat status;
    int failed = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0;
    if (!failed && status.st_size < PACKET_RING_PAGE)
        failed = ENOENT; /* its recorder was killed when it made it */
    if (!failed)
        failed = map_header(file, descriptor);
    if (!failed && !is_usable(file, serial, (uint64_t)status.st_size - PACKET_RING_PAGE))
        failed = ENOENT;
    if (!finish(file, descriptor, failed, error))
        return false;
    restart_encoder(file);
    return true;
}

static bool write_gathered(const struct packet_file *file, int descriptor, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        ssize_t count = pwrite(descriptor, file->gathered + done, size - done,
                               (off_t)(PACKET_RING_PAGE + file->written + done));
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        done += count > 0 ? (uint64_t)count : 0;
    }
    return true;
}

bool packet_file_flush(struct packet_file *file)
{
    uint64_t head = atomic_load(&file->encoder.head);
    int descriptor = open_file(file->path, 0);
    bool ok = descriptor >= 0 && write_gathered(file, descriptor, head - file->written);
    if (ok) {
        gather_from(file, head);
        file->header->size = head;
        save_encoder(file);
    }
    if (descriptor >= 0)
        close(descriptor);
    return ok;
}

void packet_file_give_back(const struct packet_file *file, uint64_t begin, uint64_t end)
{
    enum { PAGE = PACKET_RING_PAGE };
    begin = (begin + PAGE - 1) / PAGE * PAGE;
    end = (end < file->written ? end : file->written) / PAGE * PAGE;
    int descriptor = begin < end ? open_file(file->path, 0) : -1;
    if (descriptor < 0)
        return;
    fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(PAGE + begin),
              (off_t)(end - begin));
    close(descriptor);
}

void packet_file_close(struct packet_file *file)
{
    if (file->header)
        munmap(file->header, PACKET_RING_PAGE);
    free(file->gathered);
    free(file->path);
    *file = (struct packet_file){0};
}
