/* Decodes packets with libipt's block decoder (intel-pt.h of libipt 2.0.5, "Block decoder").
 *
 * How libipt tells the time. It reads one packet ahead, but a tick event names the time of the
 * packet that the newest block's last branch has used. A CYC or TSC stands in front of a TNT packet
 * and is written together with it: when it is full, or when a TIP or the end of tracing must
 * follow. So its time is that of the *last* branch before the next packet with a time, while in
 * front of a TIP it is the time of that one branch. libipt reports it at the first branch in either
 * case; here the first kind is held until its last branch is known.
 */
#include "flow/decoder.h"

#include "base/memory.h"
#include "flow/control_flow.h"
#include "flow/libipt_image.h"

#include <intel-pt.h>
#include <stdlib.h>

enum {
    /* Processors and encoders remember this many calls for return compression (SDM volume 3, "Intel
     * Processor Trace", "Indirect Transfer Compression for Returns"). */
    RETURN_STACK_DEPTH = 64,
    /* As many instructions without any branch that needs a packet are a loop that no packet ends:
     * the packets do not belong to this code. */
    INSTRUCTIONS_WITHOUT_PACKET_LIMIT = 1 << 20,
    /* An error this near to the end of the data, while tracing is off, is what a ring that is being
     * written leaves behind: part of a packet. */
    RAGGED_END_BYTES = 16,
};

struct decoder_shared {
    struct pt_config config; /* all but begin and end */
    struct symbols *symbols;
    struct libipt_sections *sections;
    bool kernel; /* was traced too */
};

/* The calls that a compressed return can return from: tells whether a return had a packet of its
 * own. */
struct return_stack {
    uint64_t addresses[RETURN_STACK_DEPTH];
    uint64_t pushed, depth;
};

struct decoder {
    struct decoder_shared *shared;
    struct pt_block_decoder *blocks;
    struct decoder_input input;
    size_t schedule_next;
    struct array images;          /* struct libipt_image *: of each process met so far */
    struct libipt_image *running; /* the image of the thread that runs */
    struct pt_image *no_image;    /* of unknown processes */
    struct control_flow flow;
    struct return_stack returns;

    int status; /* pt_status_flag, of the last call into libipt */
    bool ended;
    struct ticks now;
    uint64_t last_sync;          /* offset of the last PSB that was synchronised to, plus 1 */
    uint64_t position_of_packet; /* the newest instruction known to have used a packet */

    bool ran_ptwrite; /* the newest instruction is one */
    bool aborted;     /* a transaction has failed: the next asynchronous branch is its abort */

    bool has_tick; /* the newest branch's packet came with a time */
    struct ticks tick;
    bool has_bits_time; /* a TNT packet is being used up whose last branch was at bits_time */
    struct ticks bits_time;
    uint64_t bits_position; /* the newest branch that may be that last one */
};

static void fill_timing(struct pt_config *config, const struct pt_setup *setup)
{
    if (setup->max_nonturbo_ratio <= UINT8_MAX)
        config->nom_freq = (uint8_t)setup->max_nonturbo_ratio;
    config->cpuid_0x15_eax = setup->tsc_ctc_denominator;
    config->cpuid_0x15_ebx = setup->tsc_ctc_numerator;
    if (setup->mtc_period_bits && setup->config & setup->mtc_bit) {
        uint64_t period = setup->config & setup->mtc_period_bits;
        config->mtc_freq = (uint8_t)(period >> __builtin_ctzll(setup->mtc_period_bits));
    }
}

struct decoder_shared *decoder_shared_open(const struct perf_data *data, struct symbols *symbols,
                                           struct error *error)
{
    struct decoder_shared *shared = memory_allocate_zeroed(sizeof(*shared));
    shared->symbols = symbols;
    shared->kernel = data->setup.kernel;
    shared->sections = libipt_sections_open();
    if (!shared->sections) {
        free(shared);
        error_set(error, ERROR_IO, "Decoding %s failed: out of memory.", data->path);
        return NULL;
    }
    struct pt_config *config = &shared->config;
    pt_config_init(config);
    config->flags.variant.block.end_on_call = 1;
    config->flags.variant.block.end_on_jump = 1;
    config->flags.variant.block.enable_tick_events = 1;
    fill_timing(config, &data->setup);
    if (data->cpu.intel) {
        config->cpu = (struct pt_cpu){.vendor = pcv_intel,
                                      .family = data->cpu.family,
                                      .model = data->cpu.model,
                                      .stepping = data->cpu.stepping};
        /* A model that libipt does not know has no errata that it could work around. */
        pt_cpu_errata(&config->errata, &config->cpu);
    }
    return shared;
}

void decoder_shared_close(struct decoder_shared *shared)
{
    libipt_sections_close(shared->sections);
    free(shared);
}

const char *decoder_error_text(uint8_t code)
{
    return pt_errstr((enum pt_error_code)code);
}

struct decoder *decoder_open(struct decoder_shared *shared, const struct decoder_input *input,
                             struct error *error)
{
    struct pt_config config = shared->config;
    config.begin = (uint8_t *)(uintptr_t)input->bytes; /* libipt only reads them */
    config.end = config.begin + input->size;
    struct pt_block_decoder *blocks = pt_blk_alloc_decoder(&config);
    struct pt_image *no_image = pt_image_alloc(NULL);
    if (!blocks || !no_image) {
        pt_blk_free_decoder(blocks);
        pt_image_free(no_image);
        error_set(error, ERROR_IO,
                  "Decoding %llu bytes of packets failed: libipt could not start; out of memory.",
                  (unsigned long long)input->size);
        return NULL;
    }
    struct decoder *decoder = memory_allocate_zeroed(sizeof(*decoder));
    decoder->shared = shared;
    decoder->blocks = blocks;
    decoder->no_image = no_image;
    decoder->input = *input;
    decoder->images = array_of(sizeof(struct libipt_image *));
    decoder->status = -pte_nosync;
    control_flow_init(&decoder->flow);
    return decoder;
}

void decoder_close(struct decoder *decoder)
{
    for (size_t i = 0; i < decoder->images.count; i++)
        libipt_image_free(*(struct libipt_image **)array_at(&decoder->images, i));
    array_free(&decoder->images);
    control_flow_free(&decoder->flow);
    pt_blk_free_decoder(decoder->blocks);
    pt_image_free(decoder->no_image);
    free(decoder);
}

struct ticks decoder_time(const struct decoder *decoder)
{
    return decoder->now;
}

uint64_t decoder_offset(const struct decoder *decoder)
{
    uint64_t offset;
    if (decoder->ended || pt_blk_get_offset(decoder->blocks, &offset) < 0)
        return decoder->ended ? decoder->input.size : 0;
    return offset;
}

void decoder_add_statistics(const struct decoder *decoder, struct flow_statistics *statistics)
{
    statistics->bytes += decoder->input.size;
    statistics->instructions += decoder->flow.position;
    statistics->events += decoder->flow.batch.delivered;
    statistics->errors += decoder->flow.batch.errors;
    statistics->overflows += decoder->flow.batch.overflows;
}

/* Who runs, and which code is there. */

static struct libipt_image *image_of(struct decoder *decoder, const struct process *process)
{
    if (!process)
        return NULL;
    for (size_t i = 0; i < decoder->images.count; i++) {
        struct libipt_image *image = *(struct libipt_image **)array_at(&decoder->images, i);
        if (image->space.process == process)
            return image;
    }
    struct libipt_image *image =
        libipt_image_new(process, decoder->shared->symbols, decoder->shared->sections);
    if (image)
        *(struct libipt_image **)array_add(&decoder->images) = image;
    return image;
}

static void switch_thread(struct decoder *decoder, const struct schedule_entry *entry)
{
    struct libipt_image *image = image_of(decoder, entry->process);
    decoder->running = image;
    pt_blk_set_image(decoder->blocks, image ? image->image : decoder->no_image);
    control_flow_switch_thread(&decoder->flow, entry->output, image ? &image->space : NULL);
}

/* Lets the side band catch up with the packets: who runs at `time`, and what is mapped. */
static void advance(struct decoder *decoder, struct ticks time)
{
    const struct schedule *schedule = decoder->input.schedule;
    if (time.value > decoder->now.value)
        decoder->now = time;
    const struct schedule_entry *newest = NULL;
    while (decoder->schedule_next < schedule->entries.count) {
        const struct schedule_entry *entry = schedule_at(schedule, decoder->schedule_next);
        if (entry->since.value > decoder->now.value)
            break;
        newest = entry;
        decoder->schedule_next++;
    }
    if (newest)
        switch_thread(decoder, newest);
    /* A user program is never running while it calls execve. */
    bool before_exec = decoder->flow.running && !decoder->shared->kernel;
    if (decoder->running)
        libipt_image_advance(decoder->running, decoder->now, before_exec);
}

/* Time: see the top of this file. */

static void return_stack_push(struct return_stack *stack, uint64_t address)
{
    stack->addresses[stack->pushed++ % RETURN_STACK_DEPTH] = address;
    if (stack->depth < RETURN_STACK_DEPTH)
        stack->depth++;
}

static bool return_stack_pop_matches(struct return_stack *stack, uint64_t address)
{
    if (!stack->depth)
        return false;
    stack->depth--;
    return stack->addresses[--stack->pushed % RETURN_STACK_DEPTH] == address;
}

static void anchor_used_bits(struct decoder *decoder, uint64_t position)
{
    if (decoder->has_bits_time)
        control_flow_time(&decoder->flow, position, decoder->bits_time);
    decoder->has_bits_time = false;
}

/* Does the newest branch, which is no return by a TNT bit, need a TIP packet to tell where it went?
 */
static bool needs_tip(struct decoder *decoder)
{
    const struct control_flow *flow = &decoder->flow;
    switch ((enum branch_kind)flow->branch_kind) {
    case BRANCH_NONE:
    case BRANCH_CONDITIONAL:
        return false;
    case BRANCH_RETURN:
    case BRANCH_FAR_CALL:
    case BRANCH_FAR_RETURN:
    case BRANCH_FAR_JUMP:
        return true;
    case BRANCH_JUMP:
    case BRANCH_CALL:
        break;
    }
    return flow->space && !code_space_branch(flow->space, flow->branch.from, true).direct;
}

/* The newest branch is now known to have gone to `ip` (0: not known): settles whose time its packet
 * told. */
static void settle_branch(struct decoder *decoder, uint64_t ip)
{
    struct control_flow *flow = &decoder->flow;
    bool used_bit = flow->branch_kind == BRANCH_CONDITIONAL;
    if (flow->branch_kind == BRANCH_RETURN)
        used_bit = return_stack_pop_matches(&decoder->returns, ip);
    if (decoder->has_tick) {
        anchor_used_bits(decoder, decoder->bits_position);
        decoder->has_tick = false;
        decoder->has_bits_time = used_bit;
        decoder->bits_time = decoder->tick;
        decoder->bits_position = flow->branch_position;
        if (used_bit)
            return;
        control_flow_time(flow, flow->branch_position, decoder->tick);
        control_flow_branch_time_exact(flow);
    } else if (decoder->has_bits_time && (used_bit || needs_tip(decoder))) {
        decoder->bits_position = flow->branch_position;
    }
}

/* Packets that are no branch: all branches before them are done. True when their time is told by a
 * packet, either as `time` or by what was written together with them. */
static bool settle_all(struct decoder *decoder, uint64_t ip, struct ticks time)
{
    settle_branch(decoder, ip);
    bool is_news = time.value > decoder->now.value;
    bool exact = is_news || decoder->has_bits_time;
    if (is_news)
        anchor_used_bits(decoder, decoder->bits_position);
    decoder->has_bits_time = false;
    control_flow_time(&decoder->flow, decoder->flow.position, is_news ? time : decoder->now);
    return exact;
}

/* Blocks. */

static enum branch_kind kind_of_block(struct decoder *decoder, const struct pt_block *block)
{
    switch (block->iclass) {
    case ptic_call:
        return BRANCH_CALL;
    case ptic_return:
        return BRANCH_RETURN;
    case ptic_cond_jump:
        return BRANCH_CONDITIONAL;
    case ptic_far_call:
        return BRANCH_FAR_CALL;
    case ptic_far_return:
        return BRANCH_FAR_RETURN;
    case ptic_far_jump:
        return BRANCH_FAR_JUMP;
    case ptic_jump:
        return BRANCH_JUMP;
    case ptic_other:
    case ptic_ptwrite:
        return BRANCH_NONE;
    case ptic_error:
        break;
    }
    /* libipt does not say what kind of indirect branch it found in its cache. */
    if (!decoder->running)
        return BRANCH_NONE;
    return code_space_branch(&decoder->running->space, block->end_ip, block->mode != ptem_32bit)
        .kind;
}

static void take_block(struct decoder *decoder, const struct pt_block *block)
{
    struct control_flow *flow = &decoder->flow;
    struct executed_block executed = {.ip = block->ip,
                                      .last = block->end_ip,
                                      .instructions = block->ninsn,
                                      .kind = kind_of_block(decoder, block),
                                      .wide = block->mode != ptem_32bit,
                                      .transaction = block->speculative};
    settle_branch(decoder, block->ip);
    decoder->ran_ptwrite = block->iclass == ptic_ptwrite;
    control_flow_block(flow, &executed);
    if (flow->branch_kind == BRANCH_CALL)
        return_stack_push(&decoder->returns, flow->branch.next);
    if (executed.kind == BRANCH_CONDITIONAL || executed.kind == BRANCH_RETURN)
        decoder->position_of_packet = flow->position;
}

/* Events. */

static void forget_branches(struct decoder *decoder)
{
    decoder->returns.depth = 0;
    decoder->has_tick = false;
    decoder->has_bits_time = false;
    decoder->position_of_packet = decoder->flow.position;
}

static void resume(struct decoder *decoder, uint64_t ip, struct ticks time)
{
    bool exact = settle_all(decoder, 0, time);
    advance(decoder, time);
    control_flow_resume(&decoder->flow, ip, exact);
}

static void overflow(struct decoder *decoder, const struct pt_event *event)
{
    struct ticks time = {event->tsc};
    settle_all(decoder, 0, decoder->now);
    control_flow_gap(&decoder->flow, FLOW_GAP_OVERFLOW, 0, 0);
    forget_branches(decoder);
    if (event->ip_suppressed)
        advance(decoder, time);
    else
        resume(decoder, event->variant.overflow.ip, time);
}

/* Where no ptwrite is, the soft engine has told the stack pointer (pt_encoder_tell_stack). */
static void ptwrite(struct decoder *decoder, const struct pt_event *event)
{
    bool told = !event->ip_suppressed && event->variant.ptwrite.size == sizeof(uint64_t) &&
                event->variant.ptwrite.ip == decoder->flow.last_ip && !decoder->ran_ptwrite;
    if (told)
        control_flow_stack_pointer(&decoder->flow, event->variant.ptwrite.payload);
    advance(decoder, (struct ticks){event->tsc});
}

static void take_event(struct decoder *decoder, const struct pt_event *event)
{
    struct control_flow *flow = &decoder->flow;
    struct ticks time = {event->tsc};
    bool exact;
    decoder->position_of_packet = flow->position;
    if (event->status_update) {
        decoder->returns.depth = 0; /* a PSB: encoders forget their calls there */
        if (event->has_tsc)
            advance(decoder, time); /* its time comes without a tick */
    }
    switch (event->type) {
    case ptev_tick:
        decoder->has_tick = true;
        decoder->tick = time;
        advance(decoder, time);
        break;
    case ptev_enabled:
        resume(decoder, event->variant.enabled.ip, time);
        break;
    case ptev_disabled:
        exact = settle_all(decoder, 0, time);
        control_flow_disabled(flow, exact);
        advance(decoder, time);
        break;
    case ptev_async_disabled:
        exact = settle_all(decoder, event->variant.async_disabled.at, time);
        control_flow_interrupted(flow, event->variant.async_disabled.at, exact);
        decoder->aborted = false;
        advance(decoder, time);
        break;
    case ptev_async_branch:
        exact = settle_all(decoder, event->variant.async_branch.from, time);
        control_flow_diverted(flow, decoder->aborted ? FLOW_ABORT : FLOW_INTERRUPT,
                              event->variant.async_branch.from, event->variant.async_branch.to,
                              exact);
        decoder->aborted = false;
        advance(decoder, time);
        break;
    case ptev_overflow:
        overflow(decoder, event);
        break;
    case ptev_exstop: /* the soft engine's moments between threads have an address, too */
        if (!event->ip_suppressed)
            settle_all(decoder, event->variant.exstop.ip, time);
        advance(decoder, time);
        break;
    case ptev_ptwrite:
        ptwrite(decoder, event);
        break;
    case ptev_tsx:
        decoder->aborted = event->variant.tsx.aborted;
        break;
    case ptev_mnt:
        control_flow_mnt(flow, event->variant.mnt.payload);
        break;
    case ptev_stop:
        control_flow_stop(flow);
        break;
    default: /* paging, modes, power: of no consequence for the flow */
        break;
    }
}

/* Errors. */

static bool is_ragged_end(const struct decoder *decoder)
{
    return !decoder->flow.running &&
           decoder->input.size - decoder_offset(decoder) <= RAGGED_END_BYTES;
}

static void take_error(struct decoder *decoder, int code, uint64_t ip)
{
    settle_all(decoder, ip, decoder->now);
    if (is_ragged_end(decoder))
        return;
    if (code == -pte_nomap)
        control_flow_gap(&decoder->flow, FLOW_GAP_NO_IMAGE, ip, 0);
    else
        control_flow_gap(&decoder->flow, FLOW_GAP_ERROR, ip, (uint8_t)-code);
}

/* Goes to the next PSB. False when there is none. */
static bool synchronize(struct decoder *decoder)
{
    for (;;) {
        decoder->status = pt_blk_sync_forward(decoder->blocks);
        if (decoder->status == -pte_eos)
            return false;
        uint64_t offset;
        if (pt_blk_get_sync_offset(decoder->blocks, &offset) < 0 || offset < decoder->last_sync)
            return false; /* no way forward */
        decoder->last_sync = offset + 1;
        if (decoder->status < 0)
            continue; /* damaged behind this PSB: the next may be whole */
        forget_branches(decoder);
        struct ticks time = {0};
        pt_blk_time(decoder->blocks, &time.value, NULL, NULL);
        if (decoder->status & pts_ip_suppressed)
            advance(decoder, time);
        else
            resume(decoder, 0, time);
        return true;
    }
}

/* The last branch has gone somewhere, but no packet tells how far the code ran from there. */
static uint64_t target_of_last_branch(struct decoder *decoder)
{
    struct pt_block block;
    if (decoder->status < 0 || !decoder->flow.running)
        return 0;
    pt_blk_next(decoder->blocks, &block, sizeof(block));
    return block.ip;
}

static void finish(struct decoder *decoder)
{
    uint64_t ip = target_of_last_branch(decoder);
    if (decoder->flow.running)
        settle_all(decoder, ip, decoder->now);
    if (ip)
        control_flow_arrive(&decoder->flow, ip);
    if (decoder->input.lost_after)
        control_flow_gap(&decoder->flow, FLOW_GAP_LOST, 0, 0);
    else
        control_flow_stop(&decoder->flow);
    event_batch_flush(&decoder->flow.batch, NULL);
    decoder->ended = true;
}

static void step_event(struct decoder *decoder)
{
    struct pt_event event;
    uint64_t time = 0;
    pt_blk_time(decoder->blocks, &time, NULL, NULL);
    decoder->status = pt_blk_event(decoder->blocks, &event, sizeof(event));
    if (decoder->status >= 0) {
        if (event.type == ptev_exstop && !event.has_tsc)
            event.tsc = time; /* libipt knows it, but does not put it into this event */
        take_event(decoder, &event);
    } else if (decoder->status != -pte_eos) {
        take_error(decoder, decoder->status, decoder->flow.last_ip);
    }
}

/* One call into libipt. Sets status; negative when the decoder has to synchronise again. */
static void step(struct decoder *decoder)
{
    if (decoder->status & pts_event_pending) {
        step_event(decoder);
        return;
    }
    struct pt_block block;
    decoder->status = pt_blk_next(decoder->blocks, &block, sizeof(block));
    /* Before an error, the block holds what could still be decoded. */
    if (block.ninsn)
        take_block(decoder, &block);
    uint64_t unaccounted = decoder->flow.position - decoder->position_of_packet;
    if (decoder->status >= 0 && unaccounted > INSTRUCTIONS_WITHOUT_PACKET_LIMIT)
        decoder->status = -pte_bad_query;
    if (decoder->status == -pte_eos || decoder->status >= 0)
        return;
    uint64_t ip = block.ninsn ? decoder->flow.last_ip : block.ip;
    if (!block.ninsn && decoder->flow.running && !decoder->flow.resume_held)
        control_flow_arrive(&decoder->flow, ip);
    take_error(decoder, decoder->status, ip);
}

bool decoder_run(struct decoder *decoder, struct ticks limit, uint64_t steps)
{
    while (!decoder->ended && steps-- && decoder->now.value <= limit.value) {
        bool at_end =
            decoder->status == -pte_eos || (decoder->status >= 0 && decoder->status & pts_eos &&
                                            !(decoder->status & pts_event_pending));
        if (at_end || (decoder->status < 0 && !synchronize(decoder)))
            finish(decoder);
        else if (decoder->status >= 0)
            step(decoder);
    }
    return !decoder->ended;
}
