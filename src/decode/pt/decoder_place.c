/* Where execution is, which thread runs there, and the time: the state that all packets change. */
#include "base/memory.h"
#include "decode/pt/blocks/reported_flow.h"
#include "decode/pt/decoder_state.h"
#include "decode/schedule.h"

/* Which thread runs, and which code it has. */

static struct tnt_cache *tnt_cache_of(struct decoder *decoder, const struct process *process)
{
    struct array *processes = &decoder->memory->processes;
    for (size_t i = 0; i < processes->count; i++) {
        struct tnt_cache *tnt_cache = *(struct tnt_cache **)array_at(processes, i);
        if (tnt_cache->cache.space.process != process)
            continue;
        /* Another PSB segment may have been later. */
        block_cache_rewind(&tnt_cache->cache, decoder->time.now);
        tnt_cache_keep_up(tnt_cache);
        return tnt_cache;
    }
    struct tnt_cache *tnt_cache = memory_allocate(sizeof(*tnt_cache));
    tnt_cache_init(tnt_cache, process, decoder->shared->symbols);
    if (decoder->flow.observer && decoder->flow.observer->repeated)
        tnt_cache->counts = path_counts_open(decoder->flow.observer, &tnt_cache->cache);
    *(struct tnt_cache **)array_add(processes) = tnt_cache;
    return tnt_cache;
}

/* The kernel may be traced across the switch: then the other thread continues at the same address.
 */
static void switch_thread(struct decoder *decoder, const struct schedule_entry *entry)
{
    struct control_flow *flow = &decoder->flow;
    bool running = decoder->at;
    uint64_t ip = running ? decoder->at->ip : 0;
    decoder->tnt_cache = tnt_cache_of(decoder, entry->process);
    /* The remembered ones are of another process, or were dropped. */
    return_stack_forget_blocks(&decoder->returns);
    if (running)
        flow->running = true;
    control_flow_switch_thread(flow, entry->output, &decoder->tnt_cache->cache.space);
    if (!running)
        return;
    decoder->at = block_cache_find(&decoder->tnt_cache->cache, ip, decoder->mode);
    control_flow_resume(flow, ip, false);
}

/* Applies the newest entry of the schedule that has become due. */
static void follow_schedule(struct decoder *decoder)
{
    const struct schedule *schedule = decoder->input.schedule;
    const struct schedule_entry *newest = NULL;
    while (decoder->schedule_next < schedule->entries.count) {
        const struct schedule_entry *entry = schedule_at(schedule, decoder->schedule_next);
        if (entry->since.value > decoder->time.now.value)
            break;
        newest = entry;
        decoder->schedule_next++;
    }
    if (newest)
        switch_thread(decoder, newest);
}

/* Applies changes of the code. Blocks may be dropped, so the block at the current address is looked
 * up again. */
static void follow_code(struct decoder *decoder)
{
    struct block_cache *cache = &decoder->tnt_cache->cache;
    uint64_t epoch = cache->epoch;
    uint64_t ip = decoder->at ? decoder->at->ip : 0;
    /* A user program is never running while it calls execve. */
    bool may_exec = !decoder->enabled || decoder->shared->setup->kernel;
    struct ticks exec_until = may_exec ? decoder->time.now : decoder->enabled_at;
    block_cache_advance(cache, code_space_changes(&cache->space, decoder->time.now, exec_until));
    block_cache_trim(cache);
    tnt_cache_keep_up(decoder->tnt_cache);
    if (cache->epoch == epoch)
        return;
    return_stack_forget_blocks(&decoder->returns);
    if (decoder->at)
        decoder->at = block_cache_find(cache, ip, decoder->mode);
}

void decoder_reach_deadline(struct decoder *decoder)
{
    follow_schedule(decoder);
    follow_code(decoder);
    const struct schedule *schedule = decoder->input.schedule;
    const struct code_space *space = &decoder->tnt_cache->cache.space;
    uint64_t deadline = UINT64_MAX;
    if (decoder->schedule_next < schedule->entries.count)
        deadline = schedule_at(schedule, decoder->schedule_next)->since.value;
    if (space->process && space->cursor.next_change < space->process->change_count) {
        uint64_t change = space->process->changes[space->cursor.next_change].time.value;
        deadline = change < deadline ? change : deadline;
    }
    decoder->deadline = deadline;
}

struct block_walk decoder_begin_walk(struct decoder *decoder)
{
    decoder_report_place(decoder);
    decoder->flow.transaction = decoder->transaction;
    return (struct block_walk){&decoder->tnt_cache->cache, &decoder->flow, &decoder->returns,
                               decoder->at};
}

/* Time. */

void decoder_report_time(struct decoder *decoder)
{
    control_flow_time(&decoder->flow, decoder->flow.position, decoder->time.now);
    decoder->holds_time = false;
}

/* As decoder_report_time, for an event that happens now; returns whether a packet gave its time. */
bool decoder_report_event_time(struct decoder *decoder)
{
    bool exact = decoder->time_is_news || decoder->holds_time;
    decoder_report_time(decoder);
    return exact;
}

void decoder_check_deadline(struct decoder *decoder)
{
    if (decoder->time.now.value >= decoder->deadline)
        decoder_reach_deadline(decoder);
}

/* Where execution is. */

void decoder_forget_place(struct decoder *decoder)
{
    decoder->at = NULL;
    decoder->enabled = false;
    decoder->has_fup = decoder->has_stack = false;
    decoder->transaction = decoder->aborted = false;
    decoder->fup_owner = FUP_OF_NOTHING;
    decoder->item_size = decoder->event_data = 0;
    decoder->call_values = 0;
    return_stack_forget(&decoder->returns);
}

void decoder_forget_asynchronous(struct decoder *decoder)
{
    decoder->has_fup = decoder->aborted = false;
    decoder->fup_owner = FUP_OF_NOTHING;
}

void decoder_go_to(struct decoder *decoder, uint64_t ip)
{
    decoder->at = block_cache_find(&decoder->tnt_cache->cache, ip, decoder->mode);
}

void decoder_resume(struct decoder *decoder, uint64_t ip)
{
    decoder_check_deadline(decoder);
    bool exact = decoder_report_event_time(decoder);
    decoder->enabled = true;
    decoder->enabled_at = decoder->time.now;
    decoder_go_to(decoder, ip);
    control_flow_resume(&decoder->flow, ip, exact);
}

/* A malformed packet is reported at the current address of the flow. */
static void observe_failure(const struct decoder *decoder, enum decode_error error, uint64_t ip)
{
    uint64_t offset = decoder->input.offset + (uint64_t)(decoder->packet - decoder->input.bytes);
    if (!ip && decoder->at)
        ip = decoder->at->ip;
    struct reported_flow reported = control_flow_reported(&decoder->flow);
    observe_error(&reported, error, ip, offset);
}

void decoder_report_failure(struct decoder *decoder, enum decode_error error, uint64_t ip)
{
    decoder_report_time(decoder);
    if (decoder->flow.observer)
        observe_failure(decoder, error, ip);
    control_flow_gap(&decoder->flow, error == DECODE_NO_IMAGE ? FLOW_GAP_NO_IMAGE : FLOW_GAP_ERROR,
                     ip, error == DECODE_NO_IMAGE ? 0 : (uint8_t)error);
}

void decoder_fail(struct decoder *decoder, enum decode_error error, uint64_t ip)
{
    bool enabled = decoder->enabled;
    decoder_report_failure(decoder, error, ip);
    decoder_forget_place(decoder);
    /* Without an image, the next packet with an address may lead to code that has one. */
    if (error == DECODE_NO_IMAGE)
        decoder->enabled = enabled;
    else
        decoder_synchronize(decoder);
}

/* Walks on to `ip`. */
bool decoder_reach(struct decoder *decoder, uint64_t ip)
{
    struct block_walk walk = decoder_begin_walk(decoder);
    enum decode_error error = walk_to_ip(&walk, ip);
    decoder->at = walk.at;
    if (error)
        decoder_fail(decoder, error, error == DECODE_UNREACHED ? ip : walk.at->ip);
    else
        control_flow_arrive(&decoder->flow, ip);
    return !error;
}
