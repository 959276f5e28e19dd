/* PSB packets and the header after each, which has all that a decoder has to know.
 *
 * Source: Intel SDM volume 3, "Intel Processor Trace", section "PSB+"; the errata by their texts
 * (errata.h).
 */
#include "decode/pt/decoder_state.h"

#include <string.h>

enum { PSB_SIZE = 16 /* bytes */ };

/* Whether the next packet that is not about time or modes is a TIP.PGE: then tracing is off,
 * whatever a PSB's header (BDM70) or the FUP after an overflow (APL12) says. */
bool decoder_is_before_enable(const struct decoder *decoder)
{
    const uint8_t *next = decoder->next;
    struct pt_packet packet;
    while (pt_packet_decode(&packet, next, (size_t)(decoder->end - next), 0) == PT_PACKET_OK) {
        switch ((enum pt_packet_kind)packet.kind) {
        case PT_PACKET_TIP_PGE:
            return true;
        case PT_PACKET_PAD:
        case PT_PACKET_PSB:
        case PT_PACKET_TSC:
        case PT_PACKET_CBR:
        case PT_PACKET_PSBEND:
        case PT_PACKET_PIP:
        case PT_PACKET_MODE_EXEC:
        case PT_PACKET_MODE_TSX:
        case PT_PACKET_VMCS:
        case PT_PACKET_TMA:
        case PT_PACKET_MTC:
        case PT_PACKET_CYC:
        case PT_PACKET_MNT:
            next += packet.size;
            break;
        default:
            return false;
        }
    }
    return false;
}

/* What the packets from PSB to PSBEND say. */
struct psb_header {
    bool has_fup, has_mode, has_time, transaction;
    uint64_t ip;
    uint8_t mode;
    bool overflow; /* an overflow cut it short */
};

uint8_t decoder_mode_of(uint64_t bits)
{
    if (bits & PT_MODE_EXEC_CS_L)
        return X86_MODE_64;
    return bits & PT_MODE_EXEC_CS_D ? X86_MODE_32 : X86_MODE_16;
}

/* False if the packet is not allowed in a header. */
static bool take_header_packet(struct decoder *decoder, struct psb_header *header,
                               const struct pt_packet *packet)
{
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_FUP:
        header->has_fup = packet->ip_compression != 0;
        if (!pt_last_ip_update(&decoder->last_ip, packet->ip_compression, packet->payload))
            return false;
        header->ip = decoder->last_ip;
        return true;
    case PT_PACKET_MODE_EXEC:
        header->has_mode = true;
        header->mode = decoder_mode_of(packet->payload);
        return true;
    case PT_PACKET_MODE_TSX:
        header->transaction = packet->payload & PT_MODE_TSX_IN;
        return true;
    case PT_PACKET_TSC:
        header->has_time = true;
        packet_time_restart(&decoder->time, packet->payload);
        return true;
    case PT_PACKET_TMA:
    case PT_PACKET_MTC:
    case PT_PACKET_CYC:
    case PT_PACKET_CBR:
        decoder_take_time(decoder, packet);
        return true;
    case PT_PACKET_PAD:
    case PT_PACKET_PIP:
    case PT_PACKET_VMCS:
    case PT_PACKET_MNT:
        return true;
    default:
        return false;
    }
}

/* The processor wrote OVF after it had written only the first byte of this CYC packet (SKD007). */
bool decoder_is_cut_by_overflow(const struct decoder *decoder, const struct pt_packet *packet)
{
    static const uint8_t overflow[] = {0x02, 0xf3};
    return decoder->shared->errata.skd007 && packet->size > 1 &&
           decoder->end - decoder->next > (ptrdiff_t)sizeof(overflow) &&
           memcmp(decoder->next + 1, overflow, sizeof(overflow)) == 0;
}

/* Skips a TMA packet with reserved bits set, and the byte after it (SKZ84). */
bool decoder_skip_bad_tma(struct decoder *decoder, enum pt_packet_status status)
{
    static const uint8_t tma[] = {0x02, 0x73};
    enum { TMA_SIZE = 7 };
    if (!decoder->shared->errata.skz84 || status != PT_PACKET_BAD ||
        memcmp(decoder->next, tma, sizeof(tma)) != 0)
        return false;
    bool whole = decoder->end - decoder->next > TMA_SIZE;
    decoder->next = whole ? decoder->next + TMA_SIZE + 1 : decoder->end;
    return true;
}

/* Reads the header after a PSB. */
static enum decode_error read_header(struct decoder *decoder, struct psb_header *header)
{
    struct pt_packet packet;
    *header = (struct psb_header){.mode = decoder->mode};
    for (;;) {
        size_t size = (size_t)(decoder->end - decoder->next);
        enum pt_packet_status status = pt_packet_decode(&packet, decoder->next, size, 0);
        if (status == PT_PACKET_CUT) {
            decoder->next = decoder->end;
            return DECODE_OK;
        }
        if (decoder_skip_bad_tma(decoder, status))
            continue;
        if (status != PT_PACKET_OK)
            return DECODE_BAD_PACKET;
        if (packet.kind == PT_PACKET_CYC && decoder_is_cut_by_overflow(decoder, &packet)) {
            decoder->next++;
            continue;
        }
        if (packet.kind == PT_PACKET_OVF) {
            header->overflow = true;
            return DECODE_OK;
        }
        decoder->next += packet.size;
        if (packet.kind == PT_PACKET_PSBEND)
            return DECODE_OK;
        if (!take_header_packet(decoder, header, &packet))
            return DECODE_MISPLACED_PACKET;
    }
}

/* The header says that tracing is on, at `ip`. */
static void be_at(struct decoder *decoder, const struct psb_header *header)
{
    if (decoder->at) {
        struct block_walk walk = decoder_begin_walk(decoder);
        enum decode_error error = walk_to_ip(&walk, header->ip);
        if (!error) {
            control_flow_arrive(&decoder->flow, header->ip);
            decoder->mode = header->mode;
            decoder_go_to(decoder, header->ip);
            return;
        }
        decoder_report_failure(decoder, error, walk.at->ip);
    }
    decoder->mode = header->mode;
    decoder_resume(decoder, header->ip);
}

static bool is_on(const struct decoder *decoder, const struct psb_header *header)
{
    return header->has_fup && !(decoder->shared->errata.bdm70 && decoder_is_before_enable(decoder));
}

static void use_header(struct decoder *decoder, const struct psb_header *header)
{
    bool on = is_on(decoder, header);
    decoder->next_mode = header->mode;
    decoder->has_fup = false;
    decoder->fup_owner = FUP_OF_NOTHING;
    decoder->transaction = header->transaction;
    if (on) {
        be_at(decoder, header);
    } else {
        decoder_report_time(decoder);
        decoder_report_place(decoder);
        if (!header->overflow)
            control_flow_end(&decoder->flow);
        decoder->at = NULL;
        decoder->enabled = false;
        decoder->mode = header->mode;
    }
    event_batch_restart(&decoder->flow.batch, decoder->flow.position, decoder->time.now);
}

/* decoder->next is after a PSB. False: what follows it cannot be read. */
static bool begin_psb(struct decoder *decoder, struct psb_header *header)
{
    decoder->last_ip = 0;
    decoder->item_size = 0;
    decoder->time_is_news = false;
    return_stack_forget(&decoder->returns);
    packet_time_forget_cycles(&decoder->time);
    enum decode_error error = read_header(decoder, header);
    if (error)
        decoder_fail(decoder, error, 0);
    return !error;
}

void decoder_take_psb(struct decoder *decoder)
{
    struct psb_header header;
    if (!begin_psb(decoder, &header))
        return;
    decoder_check_deadline(decoder);
    use_header(decoder, &header);
}

/* The beginning of a PSB segment: the PSB segment before has handled this PSB, so nothing is
 * reported. */
static void continue_at_psb(struct decoder *decoder)
{
    struct psb_header header;
    decoder->next += PSB_SIZE;
    bool whole = begin_psb(decoder, &header);
    decoder_reach_deadline(decoder);
    if (!whole)
        return;
    bool on = is_on(decoder, &header);
    decoder->mode = decoder->next_mode = header.mode;
    decoder->transaction = header.transaction;
    if (on) {
        decoder->enabled = decoder->flow.running = true;
        decoder->enabled_at = decoder->time.now;
        decoder_go_to(decoder, header.ip);
        if (header.mode == X86_MODE_64 && decoder->flow.space)
            control_flow_begin_within(&decoder->flow, header.ip);
    }
    event_batch_restart(&decoder->flow.batch, 0, decoder->time.now);
    decoder_settle(decoder);
}

void decoder_begin(struct decoder *decoder)
{
    if (decoder->input.start) {
        continue_at_psb(decoder);
        return;
    }
    decoder_reach_deadline(decoder);
    decoder_synchronize(decoder);
}

static bool is_next(const struct decoder *decoder, enum pt_packet_kind kind)
{
    struct pt_packet packet;
    size_t size = (size_t)(decoder->end - decoder->next);
    return pt_packet_decode(&packet, decoder->next, size, 0) == PT_PACKET_OK && packet.kind == kind;
}

void decoder_take_next_psb_segment(struct decoder *decoder)
{
    if (decoder->next > decoder->stop)
        decoder_report_failure(decoder, DECODE_BAD_PACKET,
                               0); /* a packet with a PSB in its middle */
    decoder->packet = decoder->stop;
    decoder->next = decoder->stop + PSB_SIZE;
    decoder_take_psb(decoder);
    while (is_next(decoder, PT_PACKET_MNT)) /* the callchain snapshot that belongs to it */
        decoder_take_packet(decoder);
}

/* Goes to the next PSB, or to the end if there is none. */
void decoder_synchronize(struct decoder *decoder)
{
    size_t size = (size_t)(decoder->end - decoder->input.bytes);
    size_t from = (size_t)(decoder->next - decoder->input.bytes);
    size_t psb = pt_packet_find_psb_after(decoder->input.bytes, size, from);
    decoder->next = decoder->input.bytes + psb;
}
