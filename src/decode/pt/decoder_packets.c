/* What each kind of packet means, and FUP packets, which belong to other packets.
 *
 * Source: Intel SDM volume 3, "Intel Processor Trace", section "Packet Definitions".
 */
#include "decode/pt/decoder_state.h"

#include "packet/call_values_head.h"

/* FUP. */

/* Executes the instruction at `ip`, if it needs no packet, and reports that the stack pointer is
 * `value` after it; else the branch will report it. What a system call returns to is reported before it: after that, the
 * kernel has the control. */
static void report_stack(struct decoder *decoder, uint64_t ip, uint64_t value)
{
    if (!decoder_reach(decoder, ip))
        return;
    struct block *block = decoder->at;
    if (!block->instructions || block->is_ptwrite)
        return;
    if (block->instructions == 1 && block->kind == BRANCH_FAR_CALL) {
        control_flow_stack_pointer(&decoder->flow, value);
        return;
    }
    if (block->instructions == 1 && block->kind != BRANCH_NONE && !block->direct) {
        decoder->has_stack = true;
        decoder->stack = value;
        return;
    }
    struct block_walk walk = decoder_begin_walk(decoder);
    if (walk_one(&walk) == DECODE_OK) {
        control_flow_stack_pointer(&decoder->flow, value);
        decoder->at = walk.at;
        control_flow_arrive(&decoder->flow, walk.at->ip);
    }
}

/* A value with callers before it says where these belong. */
static void take_value(struct decoder *decoder, uint64_t ip)
{
    if (!control_flow_has_callers(&decoder->flow))
        report_stack(decoder, ip, decoder->value);
    else if (decoder_reach(decoder, ip))
        control_flow_callers(&decoder->flow);
}

/* The head of a group of a call's values, or one of its words, at `ip`. */
static void report_call_value(struct decoder *decoder, uint64_t ip)
{
    struct call_values_head head;
    if (!decoder_reach(decoder, ip))
        return;
    control_flow_arrive(&decoder->flow, ip);
    if (decoder->value_size == sizeof(uint64_t)) {
        decoder->call_values--;
        control_flow_call_value(&decoder->flow, ip, decoder->value);
    } else if (call_values_head_of(decoder->value, &head)) {
        decoder->call_values = head.words;
        control_flow_call_values(&decoder->flow, ip, (uint32_t)decoder->value);
    }
}

static void take_ptwrite(struct decoder *decoder, uint64_t ip)
{
    if (!decoder->at)
        return;
    if (decoder->value_size == sizeof(uint64_t) && decoder->call_values == 0)
        take_value(decoder, ip);
    else
        report_call_value(decoder, ip);
}

static void take_transaction(struct decoder *decoder, uint64_t ip)
{
    if (decoder->aborted) {
        decoder->has_fup = true;
        decoder->fup = ip;
    } else if (decoder->at && decoder_reach(decoder, ip)) {
        decoder->transaction = decoder->in_transaction;
    }
}

static void take_fup(struct decoder *decoder, uint64_t ip)
{
    enum fup_owner owner = decoder->fup_owner;
    decoder->fup_owner = FUP_OF_NOTHING;
    switch (owner) {
    case FUP_OF_NOTHING:
        decoder->has_fup = true;
        decoder->fup = ip;
        break;
    case FUP_OF_OVERFLOW:
        if (decoder->shared->errata.apl12 && decoder_is_before_enable(decoder))
            break; /* tracing is off anyway */
        decoder->mode = decoder->next_mode;
        decoder_resume(decoder, ip);
        break;
    case FUP_OF_STOP:
        if (decoder->at && decoder_reach(decoder, ip))
            decoder_report_time(decoder);
        break;
    case FUP_OF_PTWRITE:
        take_ptwrite(decoder, ip);
        break;
    case FUP_OF_TRANSACTION:
        take_transaction(decoder, ip);
        break;
    case FUP_OF_NO_CONSEQUENCE:
        break;
    }
}

/* Other packets. */

void decoder_take_time(struct decoder *decoder, const struct pt_packet *packet)
{
    decoder_settle_time(decoder);
    packet_time_take(&decoder->time, packet);
}

/* TSC and MTC packets give the time when all branches before them had happened; a CYC packet gives
 * the time of those that follow. */
static void take_time(struct decoder *decoder, const struct pt_packet *packet)
{
    decoder_take_time(decoder, packet);
    if (packet->kind == PT_PACKET_TSC || packet->kind == PT_PACKET_MTC)
        decoder_report_time(decoder);
    if (packet->kind == PT_PACKET_TSC || packet->kind == PT_PACKET_CYC)
        decoder->time_is_news = true;
    decoder_check_deadline(decoder);
}

static void take_tsx(struct decoder *decoder, const struct pt_packet *packet)
{
    decoder->in_transaction = packet->payload & PT_MODE_TSX_IN;
    decoder->aborted = packet->payload & PT_MODE_TSX_ABORT;
    if (decoder->enabled)
        decoder->fup_owner = FUP_OF_TRANSACTION;
    else
        decoder->transaction = decoder->in_transaction;
}

/* The mode changes with the TIP that follows. With event tracing a FUP may follow instead: the
 * interrupt flag changed there. */
static void take_mode(struct decoder *decoder, const struct pt_packet *packet)
{
    decoder->next_mode = decoder_mode_of(packet->payload);
    if (decoder->enabled && decoder->fup_owner == FUP_OF_NOTHING)
        decoder->fup_owner = FUP_OF_NO_CONSEQUENCE;
}

/* The types of EVD packets. Further facts of a page fault or VM exit are in the CFE packet. */
enum { PAGE_FAULT_ADDRESS = 1 << 0, EXIT_QUALIFICATION = 1 << 1, EXIT_REASON = 1 << 2 };

static void take_event_data(struct decoder *decoder, const struct pt_packet *packet)
{
    uint8_t reported = (uint8_t)(packet->second <= 2 ? 1 << packet->second : 0);
    bool fits = !((decoder->event_data | reported) & PAGE_FAULT_ADDRESS) || !decoder->event_data;
    if (reported && (!fits || decoder->event_data & reported))
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
    else
        decoder->event_data |= reported;
}

/* Whether an event of this type can have the data that EVD packets gave. */
static bool has_event_data(uint64_t type, uint8_t reported)
{
    enum { INTERRUPT = 1, VM_EXIT = 8, VM_EXIT_BY_INTERRUPT = 9 };
    if (reported & PAGE_FAULT_ADDRESS)
        return type == INTERRUPT;
    return !reported || type == VM_EXIT || type == VM_EXIT_BY_INTERRUPT;
}

/* A CFE packet. Its FUP, if it has one, is also that of the asynchronous event, except for
 * instructions that do not divert the flow. */
static void take_control_flow_event(struct decoder *decoder, const struct pt_packet *packet)
{
    enum { IRET = 2, VM_ENTRY = 7, UIRET = 13 };
    bool diverts =
        packet->payload != IRET && packet->payload != VM_ENTRY && packet->payload != UIRET;
    if (!has_event_data(packet->payload, decoder->event_data)) {
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
        return;
    }
    decoder->event_data = 0;
    if (packet->has_ip && !diverts)
        decoder->fup_owner = FUP_OF_NO_CONSEQUENCE;
}

static void take_companion(struct decoder *decoder, const struct pt_packet *packet,
                           enum fup_owner owner)
{
    if (packet->has_ip)
        decoder->fup_owner = owner;
    decoder->value = packet->payload;
    decoder->value_size = (uint8_t)packet->second;
}

/* Packets that may have an address; 0: it has none. */
static void take_address(struct decoder *decoder, const struct pt_packet *packet)
{
    bool has_ip = packet->ip_compression != 0;
    uint64_t ip = 0;
    if (!pt_last_ip_update(&decoder->last_ip, packet->ip_compression, packet->payload) ||
        (!has_ip && packet->kind != PT_PACKET_TIP_PGD)) {
        decoder_fail(decoder, DECODE_NO_ADDRESS, 0);
        return;
    }
    if (has_ip)
        ip = decoder->last_ip;
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TIP:
        decoder_take_tip(decoder, ip);
        break;
    case PT_PACKET_TIP_PGE:
        decoder_take_enable(decoder, ip);
        break;
    case PT_PACKET_TIP_PGD:
        decoder_take_disable(decoder, ip);
        break;
    default:
        take_fup(decoder, ip);
        break;
    }
    decoder->time_is_news = false;
}

/* All kinds that no other function handles. */
static void take_other(struct decoder *decoder, const struct pt_packet *packet)
{
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TNT:
        decoder_take_bits(decoder, packet->payload);
        decoder->time_is_news = false;
        break;
    case PT_PACKET_MODE_EXEC:
        take_mode(decoder, packet);
        break;
    case PT_PACKET_MODE_TSX:
        take_tsx(decoder, packet);
        break;
    case PT_PACKET_TRACE_STOP:
        decoder_take_trace_stop(decoder);
        break;
    case PT_PACKET_OVF:
        decoder_take_overflow(decoder);
        break;
    case PT_PACKET_PSB:
        decoder_take_psb(decoder);
        break;
    case PT_PACKET_PTWRITE:
        take_companion(decoder, packet, FUP_OF_PTWRITE);
        break;
    case PT_PACKET_EXSTOP:
        take_companion(decoder, packet, FUP_OF_STOP);
        break;
    case PT_PACKET_MWAIT:
        decoder->fup_owner = decoder->enabled ? FUP_OF_STOP : FUP_OF_NOTHING;
        break;
    case PT_PACKET_BBP:
        decoder->item_size = (uint8_t)packet->second;
        break;
    case PT_PACKET_BEP:
        decoder->item_size = 0;
        take_companion(decoder, packet, FUP_OF_NO_CONSEQUENCE);
        break;
    case PT_PACKET_CFE:
        take_control_flow_event(decoder, packet);
        break;
    case PT_PACKET_EVD:
        take_event_data(decoder, packet);
        break;
    case PT_PACKET_MNT:
        control_flow_mnt(&decoder->flow, packet->payload);
        break;
    default: /* paging, virtual machines, power: they do not affect the flow */
        break;
    }
}

void decoder_take_packet(struct decoder *decoder)
{
    struct pt_packet packet;
    size_t size = (size_t)(decoder->end - decoder->next);
    decoder->packet = decoder->next;
    enum pt_packet_status status =
        pt_packet_decode(&packet, decoder->next, size, decoder->item_size);
    if (status == PT_PACKET_CUT) {
        decoder->next = decoder->end;
        return;
    }
    if (status != PT_PACKET_OK) {
        if (!decoder_skip_bad_tma(decoder, status))
            decoder_fail(decoder, DECODE_BAD_PACKET, 0);
        return;
    }
    bool is_time = packet.kind == PT_PACKET_TSC || packet.kind == PT_PACKET_TMA ||
                   packet.kind == PT_PACKET_MTC || packet.kind == PT_PACKET_CBR ||
                   packet.kind == PT_PACKET_CYC;
    if (packet.kind == PT_PACKET_CYC && decoder_is_cut_by_overflow(decoder, &packet)) {
        decoder->next++;
        return;
    }
    decoder->next += packet.size;
    if (is_time)
        take_time(decoder, &packet);
    else if (packet.kind == PT_PACKET_TIP || packet.kind == PT_PACKET_TIP_PGE ||
             packet.kind == PT_PACKET_TIP_PGD || packet.kind == PT_PACKET_FUP)
        take_address(decoder, &packet);
    else
        take_other(decoder, &packet);
}
