#include "flow/first_callers.h"

#include "packet/packet_decoder.h"

/* Whether the packet can stand between a PSB and the first branch behind it. */
static bool is_before_branches(const struct pt_packet *packet)
{
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TNT:
    case PT_PACKET_TIP:
    case PT_PACKET_TIP_PGD:
    case PT_PACKET_OVF:
    case PT_PACKET_PSB:
        return false;
    default:
        return true;
    }
}

void first_callers_tell(const struct trace_stream *stream, struct control_flow *flow)
{
    if (!stream->stretches.count)
        return;
    /* A list that goes on in another chunk of the ring is incomplete, and will be dropped. */
    const struct trace_piece *piece = array_at(&trace_stretch_at(stream, 0)->pieces, 0);
    size_t offset = pt_packet_find_psb(piece->bytes, piece->size, 0);
    struct pt_packet packet;
    bool at_psb = true;
    while (offset < piece->size &&
           pt_packet_decode(&packet, piece->bytes + offset, piece->size - offset, 0) ==
               PT_PACKET_OK &&
           (at_psb || is_before_branches(&packet))) {
        if (packet.kind == PT_PACKET_MNT)
            control_flow_mnt(flow, packet.payload);
        offset += packet.size;
        at_psb = false;
    }
}
