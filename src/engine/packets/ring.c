#include "engine/packets/ring.h"

#include "base/memory.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool check(struct ring *ring, const char *path, struct error *error)
{
    if (ring->file.size < PACKET_RING_PAGE)
        return error_set(error, ERROR_FORMAT, "%s is damaged: it has %zu bytes, its header %d",
                         path, ring->file.size, PACKET_RING_PAGE);
    ring->header = (const struct packet_ring *)ring->file.bytes;
    ring->room = ring->file.size - PACKET_RING_PAGE;
    const struct packet_ring *header = ring->header;
    if (header->magic != PACKET_RING_MAGIC || header->version != PACKET_RING_VERSION)
        return error_set(
            error, ERROR_FORMAT,
            "%s is not a ring of packets of this version of magic-trace (%08x, version "
            "%u): its thread was killed before its first instruction, or it is damaged",
            path, header->magic, header->version);
    if (!header->full && (header->size <= PT_ENCODER_SLACK ||
                          (header->size & (header->size - 1)) != 0 || header->size > ring->room))
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: a ring of %llu bytes in a file of %zu", path,
                         (unsigned long long)header->size, ring->file.size);
    return true;
}

bool ring_open(struct ring *ring, const char *folder, uint32_t serial, struct error *error)
{
    char *path = memory_format("%s/ring.%u", folder, serial);
    *ring = (struct ring){.descriptor = file_open(path, error)};
    bool ok = ring->descriptor >= 0 &&
              file_map_descriptor(&ring->file, ring->descriptor, path, error) &&
              check(ring, path, error);
    free(path);
    if (ok)
        memcpy(&ring->encoder, ring->header->encoder, sizeof ring->encoder);
    else
        ring_close(ring);
    return ok;
}

void ring_close(struct ring *ring)
{
    file_unmap(&ring->file);
    if (ring->descriptor >= 0)
        close(ring->descriptor);
    ring->descriptor = -1;
}

struct listed {
    uint64_t first_time; /* 0: the file cannot be read, which is said when its packets are wanted */
    uint32_t serial;
};

static struct listed list(const char *folder, uint32_t serial)
{
    struct listed listed = {.serial = serial};
    struct ring ring;
    if (ring_open(&ring, folder, serial, NULL)) {
        listed.first_time = ring.header->first_time;
        ring_close(&ring);
    }
    return listed;
}

static int by_time(const void *left, const void *right)
{
    const struct listed *a = left, *b = right;
    if (a->first_time != b->first_time)
        return (a->first_time > b->first_time) - (a->first_time < b->first_time);
    return (a->serial > b->serial) - (a->serial < b->serial);
}

struct array ring_list(const char *folder)
{
    struct array serials = array_of(sizeof(uint32_t)), all = array_of(sizeof(struct listed));
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        uint32_t serial;
        int length = 0;
        if (sscanf(entry->d_name, "ring.%" SCNu32 "%n", &serial, &length) == 1 &&
            entry->d_name[length] == 0)
            *(struct listed *)array_add(&all) = list(folder, serial);
    }
    if (entries)
        closedir(entries);
    if (all.count > 0)
        qsort(all.elements, all.count, all.element_size, by_time);
    for (size_t i = 0; i < all.count; i++)
        array_add_all(&serials, &((struct listed *)array_at(&all, i))->serial, 1);
    array_free(&all);
    return serials;
}

/* Stream positions are turned into places of the file by a mask: all ones in full execution. */
static uint64_t position_mask(const struct ring *ring)
{
    return ring->header->full ? UINT64_MAX : ring->header->size - 1;
}

/* PSB is 02 82, eight times (SDM volume 3, "Packet Stream Boundary"). A packet before it may end in
 * the same two bytes, so of a longer run the last sixteen count. Returns `end` if not found.
 */
static uint64_t find_psb(const struct ring *ring, uint64_t begin, uint64_t end)
{
    enum { PSB_SIZE = 16 };
    static const uint8_t pair[2] = {0x02, 0x82};
    const uint8_t *bytes = ring->file.bytes + PACKET_RING_PAGE;
    uint64_t mask = position_mask(ring);
    unsigned matched = 0;
    for (uint64_t at = begin; at < end; at++) {
        uint8_t byte = bytes[at & mask];
        if (byte == pair[matched % 2])
            matched++;
        else if (matched >= PSB_SIZE)
            return at - PSB_SIZE - matched % 2;
        else
            matched = byte == pair[0];
    }
    return matched >= PSB_SIZE ? end - PSB_SIZE - matched % 2 : end;
}

/* Of the PSBs before `begin` the last one; returns `end` if not found. */
static uint64_t find_psb_before(const struct ring *ring, uint64_t begin, uint64_t end)
{
    uint64_t found = end;
    for (uint64_t at = find_psb(ring, 0, begin); at < begin; at = find_psb(ring, at + 1, begin))
        found = at;
    return found;
}

static void add_part(struct ring_packets *packets, const uint8_t *bytes, uint64_t size)
{
    if (size == 0)
        return;
    packets->parts[packets->part_count++] = (struct iovec){(void *)bytes, size};
    packets->size += size;
}

void ring_packets(struct ring_packets *packets, const struct ring *ring, uint64_t first,
                  uint64_t last)
{
    *packets = (struct ring_packets){0};
    const uint8_t *bytes = ring->file.bytes + PACKET_RING_PAGE;
    uint64_t head = atomic_load(&ring->encoder.head);
    uint64_t begin = first;
    if (ring->header->full) {
        if (head > ring->room)
            head = ring->room;
    } else if (head > ring->header->size - PT_ENCODER_SLACK &&
               begin < head - ring->header->size + PT_ENCODER_SLACK) {
        begin = head - ring->header->size + PT_ENCODER_SLACK;
    }
    uint64_t end = last < head ? last : head;
    uint64_t wanted = begin;
    begin = begin < end ? find_psb(ring, begin, end) : end;
    /* Callchain snapshots of deep stacks keep PSBs far apart: rather too much than nothing. */
    if (begin == end && last >= head && ring->header->full && wanted < end)
        begin = find_psb_before(ring, wanted, end);
    if (begin == end)
        return;
    packets->offset = begin;
    uint64_t place = begin & position_mask(ring);
    uint64_t before_wrap = ring->header->full ? end - begin : ring->header->size - place;
    if (before_wrap > end - begin)
        before_wrap = end - begin;
    add_part(packets, bytes + place, before_wrap);
    add_part(packets, bytes, end - begin - before_wrap);
    if (last >= head)
        add_part(packets, packets->drained, pt_encoder_drain(&ring->encoder, packets->drained));
}
