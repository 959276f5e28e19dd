/* TNT and TIP packets on the slow path, and the packets that turn tracing on and off.
 *
 * Source: Intel SDM volume 3, "Intel Processor Trace", sections "Packet Definitions" and "Packet
 * Generation Scenarios"; the errata by their texts (errata.h).
 */
#include "decode/pt/blocks/reported_flow.h"
#include "decode/pt/decoder_state.h"

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
    decoder_go_to(decoder, ip);
    control_flow_arrive(&decoder->flow, ip);
}

static void take_branch(struct decoder *decoder, uint64_t ip)
{
    struct block_walk walk = decoder_begin_walk(decoder);
    enum decode_error error = walk_to_branch(&walk);
    if (!error && walk.at->kind == BRANCH_CONDITIONAL)
        error = DECODE_TIP_AT_CONDITIONAL;
    if (error) {
        decoder_fail(decoder, error, walk.at->ip);
        return;
    }
    /* Only here: the time of a deferred address is unknown. */
    if (decoder->time_is_news)
        control_flow_branch_time_exact(&decoder->flow);
    complete_branch(decoder, walk.at, ip);
    if (decoder->time_is_news)
        decoder_report_time(decoder);
}

/* Walks on to where the asynchronous event happened; false if that failed, which has been reported.
 */
static bool reach_event(struct decoder *decoder)
{
    if (!decoder->aborted || !decoder->shared->errata.bdm64)
        return decoder_reach(decoder, decoder->fup);
    decoder_begin_walk(decoder); /* the target of the branch before it may be wrong */
    return true;
}

static void divert(struct decoder *decoder, uint64_t ip)
{
    uint64_t from = decoder->fup;
    enum flow_kind kind = decoder->aborted ? FLOW_ABORT : FLOW_INTERRUPT;
    if (!reach_event(decoder))
        return;
    decoder->has_fup = decoder->aborted = decoder->transaction = false;
    bool exact = decoder_report_event_time(decoder);
    decoder_go_to(decoder, ip);
    control_flow_diverted(&decoder->flow, kind, from, ip, exact);
}

/* Tracing was lost where the code is unknown, or by an overflow whose FUP is missing (SKD010). */
static bool may_resume_at_tip(const struct decoder *decoder)
{
    return decoder->enabled ||
           (decoder->fup_owner == FUP_OF_OVERFLOW && decoder->shared->errata.skd010);
}

void decoder_take_tip(struct decoder *decoder, uint64_t ip)
{
    decoder->mode = decoder->next_mode;
    if (decoder->fup_owner == FUP_OF_NO_CONSEQUENCE)
        decoder->fup_owner = FUP_OF_NOTHING; /* the mode belonged to this branch */
    if (decoder->at && decoder->has_fup)
        divert(decoder, ip);
    else if (decoder->at)
        take_branch(decoder, ip);
    else if (may_resume_at_tip(decoder)) {
        decoder_forget_place(decoder);
        decoder_resume(decoder, ip);
    } else
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
}

/* The next packet is the TIP of an indirect branch although there are TNT bits left: processors may
 * write it after them (SDM, "Deferred TIPs"). */
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

/* False if decoding cannot continue with the remaining bits. */
static bool take_bit(struct decoder *decoder, bool taken)
{
    for (;;) {
        struct block_walk walk = decoder_begin_walk(decoder);
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

void decoder_take_enable(struct decoder *decoder, uint64_t ip)
{
    if (decoder->at && !decoder->shared->errata.apl12) {
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, ip);
        return;
    }
    decoder_forget_asynchronous(decoder);
    decoder->mode = decoder->next_mode;
    decoder_resume(decoder, ip);
    if (decoder->flow.observer) {
        struct reported_flow reported = control_flow_reported(&decoder->flow);
        observe_start(&reported, ip);
    }
}

/* `to` 0: unknown. */
static void stop_at_fup(struct decoder *decoder, uint64_t to)
{
    uint64_t ip = decoder->fup;
    bool aborted = decoder->aborted;
    if (!reach_event(decoder))
        return;
    bool exact = decoder_report_event_time(decoder);
    if (aborted)
        control_flow_aborted_out(&decoder->flow, ip, to, exact);
    else
        control_flow_interrupted(&decoder->flow, ip, exact);
}

/* `ip` 0: unknown. */
static void stop_at_branch(struct decoder *decoder, uint64_t ip)
{
    struct block_walk walk = decoder_begin_walk(decoder);
    enum decode_error error = walk_to_exit(&walk, ip, &decoder->shared->traced);
    if (error) {
        decoder_fail(decoder, error, walk.at->ip);
        return;
    }
    bool exact = decoder_report_event_time(decoder);
    control_flow_disabled(&decoder->flow, ip, exact);
}

/* A VM entry itself ended tracing, and its FUP has no meaning (SKD022). */
static bool is_fup_of_vm_entry(const struct decoder *decoder)
{
    static const uint8_t launch[] = {0x0f, 0x01, 0xc2}, resume[] = {0x0f, 0x01, 0xc3};
    uint8_t bytes[sizeof(launch)];
    if (!decoder->shared->errata.skd022 ||
        code_space_read(&decoder->tnt_cache->cache.space, decoder->fup, bytes, sizeof(bytes)) !=
            sizeof(bytes))
        return false;
    return memcmp(bytes, launch, sizeof(bytes)) == 0 || memcmp(bytes, resume, sizeof(bytes)) == 0;
}

void decoder_take_disable(struct decoder *decoder, uint64_t ip)
{
    bool expected =
        decoder->enabled || (decoder->fup_owner == FUP_OF_OVERFLOW &&
                             (decoder->shared->errata.apl11 || decoder->shared->errata.skd010));
    if (!expected) {
        decoder_fail(decoder, DECODE_MISPLACED_PACKET, 0);
        return;
    }
    if (decoder->at && decoder->has_fup && !is_fup_of_vm_entry(decoder))
        stop_at_fup(decoder, ip);
    else if (decoder->at)
        stop_at_branch(decoder, ip);
    decoder_forget_asynchronous(decoder);
    decoder->at = NULL;
    decoder->enabled = false;
    decoder_check_deadline(decoder);
}

void decoder_take_overflow(struct decoder *decoder)
{
    decoder_report_time(decoder);
    control_flow_gap(&decoder->flow, FLOW_GAP_OVERFLOW, 0, 0);
    decoder_forget_place(decoder);
    packet_time_overflow(&decoder->time);
    decoder->last_ip = 0;
    decoder->fup_owner = FUP_OF_OVERFLOW;
}

void decoder_take_trace_stop(struct decoder *decoder)
{
    decoder_report_time(decoder);
    decoder_report_place(decoder);
    control_flow_stop(&decoder->flow);
    decoder_forget_place(decoder);
}
