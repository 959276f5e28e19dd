/* Whatever bytes a ring holds: every one of them is part of a packet or of none, no packet needs
 * more than its own bytes or fewer, and its words fit. */
#include "packet/packet_text.h"
#include "packet/packet_walk.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* Of a copy that ends where the packet does: the sanitizer sees who reads beyond. */
static enum pt_packet_status decode_copy(struct pt_packet *packet, const uint8_t *bytes,
                                         size_t size, unsigned item_size)
{
    uint8_t *copy = malloc(size ? size : 1);
    require(copy != NULL);
    memcpy(copy, bytes, size);
    enum pt_packet_status status = pt_packet_decode(packet, copy, size, item_size);
    free(copy);
    return status;
}

static void check_packet(const struct pt_packet *packet, const uint8_t *bytes, unsigned item_size)
{
    struct pt_packet alone;
    require(packet->kind < PT_PACKET_KINDS && packet->size >= 1);
    require(decode_copy(&alone, bytes, packet->size, item_size) == PT_PACKET_OK);
    require(alone.kind == packet->kind && alone.size == packet->size &&
            alone.payload == packet->payload && alone.second == packet->second);
    require(decode_copy(&alone, bytes, packet->size - 1u, item_size) == PT_PACKET_CUT);
    char text[PT_PACKET_TEXT_SIZE];
    require(strlen(pt_packet_text(text, packet)) < PT_PACKET_TEXT_SIZE - 1);
    uint64_t last_ip = 0;
    require(pt_last_ip_update(&last_ip, packet->ip_compression, packet->payload));
}

static void check_psbs(const uint8_t *bytes, size_t size)
{
    for (size_t at = 0; (at = pt_packet_find_psb(bytes, size, at)) < size; at++) {
        struct pt_packet packet;
        require(decode_copy(&packet, bytes + at, 16, 0) == PT_PACKET_OK);
        require(packet.kind == PT_PACKET_PSB);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pt_packet_walk walk = {.bytes = bytes, .size = size};
    struct pt_walked_packet walked;
    size_t next = 0;
    unsigned item_size = 0;
    while (pt_packet_walk_next(&walk, &walked)) {
        require(walked.offset == next);
        next += walked.packet.size;
        require(next > walked.offset && next <= size);
        if (walked.status == PT_PACKET_OK)
            check_packet(&walked.packet, bytes + walked.offset, item_size);
        item_size = walk.item_size;
    }
    require(next == size);
    check_psbs(bytes, size);
    return 0;
}
