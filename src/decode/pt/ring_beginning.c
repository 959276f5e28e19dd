#include "decode/pt/ring_beginning.h"

#include "packet/packet_decoder.h"

/* Takes a packet that follows the PSB and comes before any branch; false for all others. */
static bool take_packet(struct ring_beginning *beginning, const struct pt_packet *packet,
                        bool *in_header)
{
    uint64_t none = 0;
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TNT:
    case PT_PACKET_TIP:
    case PT_PACKET_TIP_PGD:
    case PT_PACKET_OVF:
    case PT_PACKET_PSB:
        return false;
    case PT_PACKET_TSC:
        if (*in_header)
            beginning->time.value = packet->payload;
        return true;
    case PT_PACKET_FUP:
        if (*in_header && pt_last_ip_update(&none, packet->ip_compression, packet->payload))
            beginning->ip = none;
        return true;
    case PT_PACKET_PSBEND:
        *in_header = false;
        return true;
    case PT_PACKET_MNT:
        *(uint64_t *)array_add(&beginning->reported) = packet->payload;
        return true;
    default:
        return true;
    }
}

void ring_beginning_read(struct ring_beginning *beginning, const struct trace_segment *segment)
{
    *beginning = (struct ring_beginning){.reported = array_of(sizeof(uint64_t))};
    /* A callchain snapshot that continues in another chunk of the ring is incomplete, and is
     * dropped. */
    const struct trace_part *part = array_at(&segment->parts, 0);
    size_t offset = pt_packet_find_psb(part->bytes, part->size, 0);
    struct pt_packet packet;
    bool in_header = true;
    for (bool first = true; offset < part->size; first = false) {
        if (pt_packet_decode(&packet, part->bytes + offset, part->size - offset, 0) != PT_PACKET_OK)
            return;
        if (!first && !take_packet(beginning, &packet, &in_header))
            return;
        offset += packet.size;
    }
}

void ring_beginning_free(struct ring_beginning *beginning)
{
    array_free(&beginning->reported);
}
