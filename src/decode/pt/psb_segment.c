#include "decode/pt/psb_segment.h"

#include "packet/packet_decoder.h"

enum {
    /* Long enough to make up for the cost of each PSB segment, short enough that events waiting to
     * be passed on stay in the processor's cache. */
    PSB_SEGMENT_BYTES = 1 << 16,
};

/* The time that the header after the PSB at `psb` gives; false if it gives none. */
static bool time_after(const uint8_t *bytes, size_t size, size_t psb, struct ticks *time)
{
    struct pt_packet packet;
    while (pt_packet_decode(&packet, bytes + psb, size - psb, 0) == PT_PACKET_OK) {
        if (packet.kind == PT_PACKET_TSC)
            time->value = packet.payload;
        if (packet.kind == PT_PACKET_TSC || packet.kind == PT_PACKET_PSBEND ||
            packet.kind == PT_PACKET_OVF)
            return packet.kind == PT_PACKET_TSC;
        psb += packet.size;
    }
    return false;
}

void psb_segments_cut(struct array *psb_segments, const uint8_t *bytes, size_t size, bool timed)
{
    struct psb_segment psb_segment = {.start = 0};
    size_t next = timed ? pt_packet_find_psb(bytes, size, PSB_SEGMENT_BYTES) : size;
    while (next < size) {
        struct ticks time;
        if (!time_after(bytes, size, next, &time)) {
            next = pt_packet_find_psb(bytes, size, next + 1);
            continue;
        }
        psb_segment.stop = next;
        *(struct psb_segment *)array_add(psb_segments) = psb_segment;
        psb_segment = (struct psb_segment){.start = next, .time = time};
        next = pt_packet_find_psb(bytes, size, next + PSB_SEGMENT_BYTES);
    }
    psb_segment.stop = size;
    *(struct psb_segment *)array_add(psb_segments) = psb_segment;
}
