/* What packets mean, apart from the few kinds that decoder.c has a short way for.
 *
 * Source: Intel SDM volume 3, "Intel Processor Trace", sections "Packet Definitions", "PSB+",
 * "Packet Generation Scenarios", "Resolving ..."; the errata by their texts (errata.h).
 */
#include "flow/decoder_state.h"
#include "flow/observed_flow.h"

#include <string.h>

enum {
    /* An error this near to the end of the data, while tracing is off, is what a ring that is being
     * written leaves behind: part of a packet. */
    RAGGED_END_BYTES = 16,
    PSB_SIZE = 16, /* bytes */
};

static struct block_walk begin_walk(struct decoder *decoder)
{
    decoder_tell_place(decoder);
    decoder->flow.transaction = decoder->transaction;
    return (struct block_walk){&decoder->paths->cache, &decoder->flow, &decoder->returns,
                               decoder->at};
}

/* Time. */

static void tell_time(struct decoder *decoder)
{
    control_flow_time(&decoder->flow, decoder->flow.position, decoder->time.now);
    decoder->holds_time = false;
}

/* The same, for an event that happens now; whether a packet has told its time. */
static bool tell_event_time(struct decoder *decoder)
{
    bool exact = decoder->time_is_news || decoder->holds_time;
    tell_time(decoder);
    return exact;
}

static void wake_if_due(struct decoder *decoder)
{
    if (decoder->time.now.value >= decoder->wake)
        decoder_wake(decoder);
}

/* Where execution is. */

static void forget_place(struct decoder *decoder)
{
    decoder->at = NULL;
    decoder->enabled = false;
    decoder->has_fup = decoder->has_stack = false;
    decoder->transaction = decoder->aborted = false;
    decoder->fup_owner = FUP_OF_NOTHING;
    decoder->item_size = 0;
    return_stack_forget(&decoder->returns);
}

static void forget_asynchronous(struct decoder *decoder)
{
    decoder->has_fup = decoder->aborted = false;
    decoder->fup_owner = FUP_OF_NOTHING;
}

static void go_to(struct decoder *decoder, uint64_t ip)
{
    decoder->at = block_cache_find(&decoder->paths->cache, ip, decoder->mode);
}

static void resume(struct decoder *decoder, uint64_t ip)
{
    wake_if_due(decoder);
    bool exact = tell_event_time(decoder);
    decoder->enabled = true;
    decoder->enabled_at = decoder->time.now;
    go_to(decoder, ip);
    control_flow_resume(&decoder->flow, ip, exact);
}

/* At the end of the ring, while tracing is off. */
static bool is_ragged_end(const struct decoder *decoder)
{
    return !decoder->enabled && decoder->end == decoder->input.bytes + decoder->input.size &&
           decoder->end - decoder->next < RAGGED_END_BYTES;
}

/* A packet that is wrong by itself is noticed where the flow has come to. */
static void observe_failure(const struct decoder *decoder, enum decode_error error, uint64_t ip)
{
    uint64_t offset = decoder->input.offset + (uint64_t)(decoder->packet - decoder->input.bytes);
    if (!ip && decoder->at)
        ip = decoder->at->ip;
    observe_error(&decoder->flow, error, ip, offset);
}

static void tell_failure(struct decoder *decoder, enum decode_error error, uint64_t ip)
{
    tell_time(decoder);
    if (decoder->flow.observer)
        observe_failure(decoder, error, ip);
    control_flow_gap(&decoder->flow, error == DECODE_NO_IMAGE ? FLOW_GAP_NO_IMAGE : FLOW_GAP_ERROR,
                     ip, error == DECODE_NO_IMAGE ? 0 : (uint8_t)error);
}

void decoder_fail(struct decoder *decoder, enum decode_error error, uint64_t ip)
{
    bool enabled = decoder->enabled;
    if (!is_ragged_end(decoder))
        tell_failure(decoder, error, ip);
    forget_place(decoder);
    /* Without an image the next packet with an address may lead to where there is one. */
    if (error == DECODE_NO_IMAGE)
        decoder->enabled = enabled;
    else
        decoder_synchronize(decoder);
}

/* Walks on to `ip`. */
static bool reach(struct decoder *decoder, uint64_t ip)
{
    struct block_walk walk = begin_walk(decoder);
    enum decode_error error = walk_to_ip(&walk, ip);
    decoder->at = walk.at;
    if (error)
        decoder_fail(decoder, error, error == DECODE_UNREACHED ? ip : walk.at->ip);
    else
        control_flow_arrive(&decoder->flow, ip);
    return !error;
}

/* Branches. */

/* The branch at the end of `branch`, which has just run, went to `ip`. */
static void complete_branch(struct decoder *decoder, const struct block *branch, uint64_t ip)
{
    struct return_place place;
    if (branch->kind == BRANCH_RETURN)
        return_stack_pop(&decoder->returns, &place);
    if (decoder->has_stack)
        control_flow_stack_pointer(&decoder->flow, decoder->stack);
    decoder->has_stack = false;
    go_to(decoder, ip);
    control_flow_arrive(&decoder->flow, ip);
}

static void take_branch(struct decoder *decoder, uint64_t ip)
{
    struct block_walk walk = begin_walk(decoder);
    enum decode_error error = walk_to_branch(&walk);
    if (!error && walk.at->kind == BRANCH_CONDITIONAL)
        error = DECODE_TIP_AT_CONDITIONAL;
    if (error) {
        decoder_fail(decoder, error, walk.at->ip);
        return;
    }
    /* Only here: of a deferred address nobody knows the time. */
    if (decoder->time_is_news)
        control_flow_branch_time_exact(&decoder->flow);
    complete_branch(decoder, walk.at, ip);
    if (decoder->time_is_news)
        tell_time(decoder);
}

static void divert(struct decoder *decoder, uint64_t ip)
{
    uint64_t from = decoder->fup;
    enum flow_kind kind = decoder->aborted ? FLOW_ABORT : FLOW_INTERRUPT;
    bool may_be_wrong = decoder->aborted && decoder->shared->errata.bdm64;
    decoder->has_fup = decoder->aborted = decoder->transaction = false;
    if (may_be_wrong)
        begin_walk(decoder);
    else if (!reach(decoder, from))
        return;
    bool exact = tell_event_time(decoder);
    go_to(decoder, ip);
    control_flow_diverted(&decoder->flow, kind, from, ip, exact);
}

/* Tracing was lost where no code is known, or by an overflow whose FUP is missing (SKD010). */
static bool may_resume_at_tip(const struct decoder *decoder)
{
    return decoder->enabled ||
           (decoder->fup_owner == FUP_OF_OVERFLOW && decoder->shared->errata.skd010);
}

void decoder_take_tip(struct decoder *decoder, uint64_t ip)
{
    decoder->mode = decoder->next_mode;
    if (decoder->at && decoder->has_fup)
        divert(decoder, ip);
    else if (decoder->at)
        take_branch(decoder, ip);
    else if (may_resume_at_tip(decoder)) {
        forget_place(decoder);
        resume(decoder, ip);
    } else
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
}

/* The next packet is the TIP of an indirect branch although there are TNT bits left: processors may
 * put it behind them (SDM, "Deferred TIPs"). */
static bool take_deferred_address(struct decoder *decoder)
{
    struct pt_packet packet;
    size_t size = (size_t)(decoder->end - decoder->next);
    if (pt_packet_decode(&packet, decoder->next, size, 0) != PT_PACKET_OK ||
        packet.kind != PT_PACKET_TIP || !packet.ip_compression ||
        !pt_last_ip_update(&decoder->last_ip, packet.ip_compression, packet.payload))
        return false;
    decoder->next += packet.size;
    return true;
}

/* False when decoding cannot go on with the bits that are left. */
static bool take_bit(struct decoder *decoder, bool taken)
{
    for (;;) {
        struct block_walk walk = begin_walk(decoder);
        enum decode_error error = walk_bit(&walk, taken);
        if (error == DECODE_BIT_AT_INDIRECT && take_deferred_address(decoder)) {
            complete_branch(decoder, walk.at, decoder->last_ip);
            continue;
        }
        if (error) {
            decoder_fail(decoder, error, walk.at->ip);
            return false;
        }
        if (decoder->has_stack)
            control_flow_stack_pointer(&decoder->flow, decoder->stack);
        decoder->has_stack = false;
        decoder->at = walk.at;
        control_flow_arrive(&decoder->flow, walk.at->ip);
        return true;
    }
}

void decoder_take_bits(struct decoder *decoder, uint64_t marked_bits)
{
    bool lost = decoder->enabled ||
                (decoder->fup_owner == FUP_OF_OVERFLOW && decoder->shared->errata.skd010);
    if (!decoder->at && lost)
        return;
    if (!decoder->at || decoder->has_fup) {
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
        return;
    }
    for (unsigned left = 63 - (unsigned)__builtin_clzll(marked_bits); left-- > 0;)
        if (!take_bit(decoder, marked_bits >> left & 1))
            return;
    decoder->holds_time |= decoder->time_is_news;
}

/* Tracing on and off. */

static void take_enable(struct decoder *decoder, uint64_t ip)
{
    if (decoder->at && !decoder->shared->errata.apl12) {
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, ip);
        return;
    }
    forget_asynchronous(decoder);
    decoder->mode = decoder->next_mode;
    resume(decoder, ip);
}

static void stop_at_fup(struct decoder *decoder)
{
    uint64_t ip = decoder->fup;
    if (!reach(decoder, ip))
        return;
    bool exact = tell_event_time(decoder);
    control_flow_interrupted(&decoder->flow, ip, exact);
}

/* `ip` 0: not told. */
static void stop_at_branch(struct decoder *decoder, uint64_t ip)
{
    struct block_walk walk = begin_walk(decoder);
    enum decode_error error = walk_to_exit(&walk, ip);
    if (error) {
        decoder_fail(decoder, error, walk.at->ip);
        return;
    }
    bool exact = tell_event_time(decoder);
    control_flow_disabled(&decoder->flow, exact);
}

/* VM entry ended tracing at itself, and its FUP is superfluous (SKD022). */
static bool is_fup_of_vm_entry(const struct decoder *decoder)
{
    static const uint8_t launch[] = {0x0f, 0x01, 0xc2}, resume[] = {0x0f, 0x01, 0xc3};
    uint8_t bytes[sizeof(launch)];
    if (!decoder->shared->errata.skd022 ||
        code_space_read(&decoder->paths->cache.space, decoder->fup, bytes, sizeof(bytes)) !=
            sizeof(bytes))
        return false;
    return memcmp(bytes, launch, sizeof(bytes)) == 0 || memcmp(bytes, resume, sizeof(bytes)) == 0;
}

static void take_disable(struct decoder *decoder, uint64_t ip)
{
    bool expected =
        decoder->enabled || (decoder->fup_owner == FUP_OF_OVERFLOW &&
                             (decoder->shared->errata.apl11 || decoder->shared->errata.skd010));
    if (!expected) {
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
        return;
    }
    if (decoder->at && decoder->has_fup && !is_fup_of_vm_entry(decoder))
        stop_at_fup(decoder);
    else if (decoder->at)
        stop_at_branch(decoder, ip);
    forget_asynchronous(decoder);
    decoder->at = NULL;
    decoder->enabled = false;
    wake_if_due(decoder);
}

static void take_overflow(struct decoder *decoder)
{
    tell_time(decoder);
    control_flow_gap(&decoder->flow, FLOW_GAP_OVERFLOW, 0, 0);
    forget_place(decoder);
    packet_time_overflow(&decoder->time);
    decoder->last_ip = 0;
    decoder->fup_owner = FUP_OF_OVERFLOW;
}

static void take_trace_stop(struct decoder *decoder)
{
    tell_time(decoder);
    decoder_tell_place(decoder);
    control_flow_stop(&decoder->flow);
    forget_place(decoder);
}

/* Whether the next packet that is not about time or modes is a TIP.PGE: then tracing is off,
 * whatever a PSB's header (BDM70) or the FUP behind an overflow (APL12) says. */
static bool is_before_enable(const struct decoder *decoder)
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

/* FUP. */

/* Runs the instruction at `ip`, if it needs no packet, and tells that the stack pointer is `value`
 * behind it; else it will be told with the branch. */
static void tell_stack(struct decoder *decoder, uint64_t ip, uint64_t value)
{
    if (!reach(decoder, ip))
        return;
    struct block *block = decoder->at;
    if (!block->instructions || block->is_ptwrite)
        return;
    if (block->instructions == 1 && block->kind != BRANCH_NONE && !block->direct) {
        decoder->has_stack = true;
        decoder->stack = value;
        return;
    }
    struct block_walk walk = begin_walk(decoder);
    if (walk_one(&walk) == DECODE_OK) {
        control_flow_stack_pointer(&decoder->flow, value);
        decoder->at = walk.at;
        control_flow_arrive(&decoder->flow, walk.at->ip);
    }
}

static void take_transaction(struct decoder *decoder, uint64_t ip)
{
    if (decoder->aborted) {
        decoder->has_fup = true;
        decoder->fup = ip;
    } else if (decoder->at && reach(decoder, ip)) {
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
        if (decoder->shared->errata.apl12 && is_before_enable(decoder))
            break; /* tracing is off all the same */
        decoder->mode = decoder->next_mode;
        resume(decoder, ip);
        break;
    case FUP_OF_STOP:
        if (decoder->at && reach(decoder, ip))
            tell_time(decoder);
        break;
    case FUP_OF_PTWRITE:
        if (decoder->at && decoder->value_size == sizeof(uint64_t))
            tell_stack(decoder, ip, decoder->value);
        break;
    case FUP_OF_TRANSACTION:
        take_transaction(decoder, ip);
        break;
    case FUP_OF_NO_CONSEQUENCE:
        break;
    }
}

/* PSB. */

/* What the packets from PSB to PSBEND say. */
struct psb_header {
    bool has_fup, has_mode, has_time, transaction;
    uint64_t ip;
    uint8_t mode;
    bool overflow; /* it was cut short by one */
};

static uint8_t mode_of(uint64_t bits)
{
    if (bits & PT_MODE_EXEC_CS_L)
        return X86_MODE_64;
    return bits & PT_MODE_EXEC_CS_D ? X86_MODE_32 : X86_MODE_16;
}

/* False when the packet cannot be in a header. */
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
        header->mode = mode_of(packet->payload);
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

/* The processor wrote OVF when it had written the first byte of this CYC packet (SKD007). */
static bool is_cut_by_overflow(const struct decoder *decoder, const struct pt_packet *packet)
{
    static const uint8_t overflow[] = {0x02, 0xf3};
    return decoder->shared->errata.skd007 && packet->size > 1 &&
           decoder->end - decoder->next > (ptrdiff_t)sizeof(overflow) &&
           memcmp(decoder->next + 1, overflow, sizeof(overflow)) == 0;
}

/* Reads the header behind a PSB. */
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
        if (status != PT_PACKET_OK)
            return DECODE_BAD_PACKET;
        if (packet.kind == PT_PACKET_CYC && is_cut_by_overflow(decoder, &packet)) {
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
        struct block_walk walk = begin_walk(decoder);
        enum decode_error error = walk_to_ip(&walk, header->ip);
        if (!error) {
            control_flow_arrive(&decoder->flow, header->ip);
            decoder->mode = header->mode;
            go_to(decoder, header->ip);
            return;
        }
        tell_failure(decoder, error, walk.at->ip);
    }
    decoder->mode = header->mode;
    resume(decoder, header->ip);
}

static bool is_on(const struct decoder *decoder, const struct psb_header *header)
{
    return header->has_fup && !(decoder->shared->errata.bdm70 && is_before_enable(decoder));
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
        tell_time(decoder);
        decoder_tell_place(decoder);
        if (!header->overflow)
            control_flow_stop(&decoder->flow);
        decoder->at = NULL;
        decoder->enabled = false;
        decoder->mode = header->mode;
    }
    event_batch_restart(&decoder->flow.batch, decoder->flow.position, decoder->time.now);
}

/* decoder->next is behind a PSB. False: what follows it cannot be read. */
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

static void take_psb(struct decoder *decoder)
{
    struct psb_header header;
    if (!begin_psb(decoder, &header))
        return;
    wake_if_due(decoder);
    use_header(decoder, &header);
}

/* The beginning of a slice: the one before has dealt with this PSB, so nothing is told. */
static void continue_at_psb(struct decoder *decoder)
{
    struct psb_header header;
    decoder->next += PSB_SIZE;
    bool whole = begin_psb(decoder, &header);
    decoder_wake(decoder);
    if (!whole)
        return;
    bool on = is_on(decoder, &header);
    decoder->mode = decoder->next_mode = header.mode;
    decoder->transaction = header.transaction;
    if (on) {
        decoder->enabled = decoder->flow.running = true;
        decoder->enabled_at = decoder->time.now;
        go_to(decoder, header.ip);
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
    decoder_wake(decoder);
    decoder_synchronize(decoder);
}

static bool is_next(const struct decoder *decoder, enum pt_packet_kind kind)
{
    struct pt_packet packet;
    size_t size = (size_t)(decoder->end - decoder->next);
    return pt_packet_decode(&packet, decoder->next, size, 0) == PT_PACKET_OK && packet.kind == kind;
}

void decoder_take_next_slice(struct decoder *decoder)
{
    if (decoder->next > decoder->stop)
        tell_failure(decoder, DECODE_BAD_PACKET, 0); /* a packet with a PSB in its middle */
    decoder->packet = decoder->stop;
    decoder->next = decoder->stop + PSB_SIZE;
    take_psb(decoder);
    while (is_next(decoder, PT_PACKET_MNT)) /* the callers that belong to it */
        decoder_take_packet(decoder);
}

/* Other packets. */

void decoder_take_time(struct decoder *decoder, const struct pt_packet *packet)
{
    struct packet_time *time = &decoder->time;
    decoder_settle_time(decoder);
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TSC:
        packet_time_tsc(time, packet->payload);
        break;
    case PT_PACKET_TMA:
        packet_time_tma(time, packet->payload, packet->second);
        break;
    case PT_PACKET_MTC:
        packet_time_mtc(time, packet->payload);
        break;
    case PT_PACKET_CBR:
        packet_time_cbr(time, packet->payload);
        break;
    default:
        packet_time_cyc(time, packet->payload);
        break;
    }
}

/* TSC and MTC packets tell when all branches before them had happened; a CYC packet when those that
 * follow did. */
static void take_time(struct decoder *decoder, const struct pt_packet *packet)
{
    decoder_take_time(decoder, packet);
    if (packet->kind == PT_PACKET_TSC || packet->kind == PT_PACKET_MTC)
        tell_time(decoder);
    if (packet->kind == PT_PACKET_TSC || packet->kind == PT_PACKET_CYC)
        decoder->time_is_news = true;
    wake_if_due(decoder);
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

/* An event that the processor tells of beside the flow: its FUP is also that of the flow, unless it
 * is of an instruction that does not divert it. */
static void take_control_flow_event(struct decoder *decoder, const struct pt_packet *packet)
{
    enum { IRET = 2, VM_ENTRY = 7, UIRET = 13 };
    bool diverts =
        packet->payload != IRET && packet->payload != VM_ENTRY && packet->payload != UIRET;
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

/* Packets with an address, and the address or 0. */
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
        take_enable(decoder, ip);
        break;
    case PT_PACKET_TIP_PGD:
        take_disable(decoder, ip);
        break;
    default:
        take_fup(decoder, ip);
        break;
    }
    decoder->time_is_news = false;
}

/* All kinds but those that other functions deal with together. */
static void take_other(struct decoder *decoder, const struct pt_packet *packet)
{
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_TNT:
        decoder_take_bits(decoder, packet->payload);
        decoder->time_is_news = false;
        break;
    case PT_PACKET_MODE_EXEC:
        decoder->next_mode = mode_of(packet->payload);
        break;
    case PT_PACKET_MODE_TSX:
        take_tsx(decoder, packet);
        break;
    case PT_PACKET_TRACE_STOP:
        take_trace_stop(decoder);
        break;
    case PT_PACKET_OVF:
        take_overflow(decoder);
        break;
    case PT_PACKET_PSB:
        take_psb(decoder);
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
    case PT_PACKET_MNT:
        control_flow_mnt(&decoder->flow, packet->payload);
        break;
    default: /* paging, virtual machines, power: of no consequence for the flow */
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
        decoder_fail(decoder, DECODE_BAD_PACKET, 0);
        return;
    }
    bool is_time = packet.kind == PT_PACKET_TSC || packet.kind == PT_PACKET_TMA ||
                   packet.kind == PT_PACKET_MTC || packet.kind == PT_PACKET_CBR ||
                   packet.kind == PT_PACKET_CYC;
    if (packet.kind == PT_PACKET_CYC && is_cut_by_overflow(decoder, &packet)) {
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

/* Goes to the next PSB, or to the end when there is none. */
void decoder_synchronize(struct decoder *decoder)
{
    size_t size = (size_t)(decoder->end - decoder->input.bytes);
    size_t from = (size_t)(decoder->next - decoder->input.bytes);
    size_t psb = pt_packet_find_psb(decoder->input.bytes, size, from);
    decoder->next = decoder->input.bytes + psb;
}
