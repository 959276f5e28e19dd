/* The decoder: its beginning and end, and the short ways for TNT, TIP and CYC packets, which nearly
 * all are. Everything else, and everything unusual, is left to decoder_packets.c. */
#include "flow/decoder.h"

#include "base/memory.h"
#include "flow/decoder_state.h"
#include "packet/packet.h"

#include <stdlib.h>
#include <string.h>

struct decoder_shared *decoder_shared_open(const struct perf_data *data, struct symbols *symbols,
                                           struct error *error)
{
    struct decoder_shared *shared = memory_allocate_zeroed(sizeof(*shared));
    shared->setup = &data->setup;
    shared->errata = errata_of(&data->cpu);
    shared->symbols = symbols;
    return shared;
}

void decoder_shared_close(struct decoder_shared *shared)
{
    free(shared);
}

const char *decoder_error_text(uint8_t code)
{
    return decode_error_text(code);
}

struct decoder *decoder_open(struct decoder_shared *shared, const struct decoder_input *input,
                             struct error *error)
{
    struct decoder *decoder = memory_allocate_zeroed(sizeof(*decoder));
    decoder->shared = shared;
    decoder->input = *input;
    decoder->next = input->bytes;
    decoder->end = input->bytes + input->size;
    decoder->processes = array_of(sizeof(struct paths *));
    decoder->mode = decoder->next_mode = X86_MODE_64;
    packet_time_init(&decoder->time, shared->setup);
    control_flow_init(&decoder->flow);
    decoder->flow.observer = input->observer;
    decoder->packet = decoder->next;
    decoder_synchronize(decoder);
    decoder_wake(decoder);
    return decoder;
}

void decoder_close(struct decoder *decoder)
{
    for (size_t i = 0; i < decoder->processes.count; i++) {
        struct paths *paths = *(struct paths **)array_at(&decoder->processes, i);
        paths_free(paths);
        free(paths);
    }
    array_free(&decoder->processes);
    control_flow_free(&decoder->flow);
    free(decoder);
}

struct ticks decoder_time(const struct decoder *decoder)
{
    return decoder->time.now;
}

uint64_t decoder_offset(const struct decoder *decoder)
{
    return (uint64_t)(decoder->next - decoder->input.bytes);
}

void decoder_add_statistics(const struct decoder *decoder, struct flow_statistics *statistics)
{
    statistics->bytes += decoder->input.size;
    statistics->instructions += decoder->flow.position;
}

/* Who runs, and which code is there. */

static struct paths *paths_of(struct decoder *decoder, const struct process *process)
{
    for (size_t i = 0; i < decoder->processes.count; i++) {
        struct paths *paths = *(struct paths **)array_at(&decoder->processes, i);
        if (paths->cache.space.process == process)
            return paths;
    }
    struct paths *paths = memory_allocate(sizeof(*paths));
    paths_init(paths, process, decoder->shared->symbols);
    *(struct paths **)array_add(&decoder->processes) = paths;
    return paths;
}

/* The kernel may be traced across the switch: then the other thread goes on where it is. */
static void switch_thread(struct decoder *decoder, const struct schedule_entry *entry)
{
    struct control_flow *flow = &decoder->flow;
    bool running = decoder->at;
    uint64_t ip = running ? decoder->at->ip : 0;
    decoder->paths = paths_of(decoder, entry->process);
    if (running)
        flow->running = true;
    control_flow_switch_thread(flow, entry->output, &decoder->paths->cache.space);
    if (!running)
        return;
    decoder->at = block_cache_find(&decoder->paths->cache, ip, decoder->mode);
    control_flow_resume(flow, ip, false);
}

/* Makes the newest entry of the schedule that has come hold. */
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

/* Blocks may be gone behind this: the place is looked for anew. */
static void follow_code(struct decoder *decoder)
{
    struct block_cache *cache = &decoder->paths->cache;
    uint64_t epoch = cache->epoch;
    uint64_t ip = decoder->at ? decoder->at->ip : 0;
    /* A user program is never running while it calls execve. */
    bool before_exec = decoder->enabled && !decoder->shared->setup->kernel;
    block_cache_advance(cache, code_space_changes(&cache->space, decoder->time.now, before_exec));
    block_cache_trim(cache);
    if (cache->epoch == epoch)
        return;
    return_stack_forget_blocks(&decoder->returns);
    if (decoder->at)
        decoder->at = block_cache_find(cache, ip, decoder->mode);
}

void decoder_wake(struct decoder *decoder)
{
    follow_schedule(decoder);
    follow_code(decoder);
    const struct schedule *schedule = decoder->input.schedule;
    const struct code_space *space = &decoder->paths->cache.space;
    uint64_t wake = UINT64_MAX;
    if (decoder->schedule_next < schedule->entries.count)
        wake = schedule_at(schedule, decoder->schedule_next)->since.value;
    if (space->process && space->cursor.next_change < space->process->change_count) {
        uint64_t change = space->process->changes[space->cursor.next_change].time.value;
        wake = change < wake ? change : wake;
    }
    decoder->wake = wake;
}

/* The short ways. They are taken while decoder->plain: the place in the code is known, and nothing
 * is to be minded but the packet itself. Where one cannot deal with a packet it does nothing and
 * says so. */

static inline void run_path(struct decoder *decoder, const struct path *path)
{
    struct control_flow *flow = &decoder->flow;
    if (path->event_count)
        event_batch_add_path(&flow->batch, path->events, path->event_count, flow->position);
    flow->position += path->instructions;
    flow->last_ip = path->last_ip;
    for (unsigned i = 0; i < path->push_count; i++)
        return_stack_push(&decoder->returns, path->pushes[i]);
}

static inline void add_event(struct decoder *decoder, enum flow_kind kind, const struct path *path,
                             uint64_t next, const struct block *to)
{
    struct flow_event event = {.time = {0},
                               .from = path->last_ip,
                               .to = to->ip,
                               .next = next,
                               .function = to->bounds.function,
                               .kind = (uint8_t)kind,
                               .flags = path->flags};
    event_batch_add_path(&decoder->flow.batch, &event, 1, decoder->flow.position);
}

static struct block *block_at(struct decoder *decoder, uint64_t ip)
{
    return block_cache_find(&decoder->paths->cache, ip, decoder->mode);
}

static bool take_compressed_return(struct decoder *decoder, const struct path *path)
{
    struct return_place place;
    if (!return_stack_pop(&decoder->returns, &place)) {
        decoder_fail(decoder, DECODE_EMPTY_RETURN_STACK, path->last_ip);
        return false;
    }
    decoder->at = place.block ? place.block : block_at(decoder, place.address);
    add_event(decoder, FLOW_RETURN, path, 0, decoder->at);
    return true;
}

/* Takes `count` bits, oldest first, of which the lowest is bit 0 of `bits`. */
static void take_bits(struct decoder *decoder, uint64_t bits, unsigned count)
{
    while (count) {
        unsigned chunk = count < PATH_BITS ? count : PATH_BITS;
        uint32_t marked = (uint32_t)(bits >> (count - chunk)) & ((1u << chunk) - 1);
        const struct path *path = paths_find(decoder->paths, decoder->at, marked | 1u << chunk);
        if (path->end == PATH_AT_BRANCH) {
            decoder_take_bits(decoder, (bits & ((UINT64_C(1) << count) - 1)) | UINT64_C(1)
                                                                                   << count);
            decoder_settle(decoder);
            return;
        }
        run_path(decoder, path);
        count -= path->bits;
        decoder->at = path->next;
        if (path->end == PATH_AT_BLOCK)
            continue;
        if (path->end == PATH_FAILED) {
            struct block *at = path->next;
            decoder_fail(decoder, path->error, at->ip);
            decoder_settle(decoder);
            return;
        }
        if (!take_compressed_return(decoder, path)) {
            decoder_settle(decoder);
            return;
        }
    }
    decoder->holds_time |= decoder->time_is_news;
    decoder->time_is_news = false;
}

static struct block *target_of(struct decoder *decoder, struct block *branch, uint64_t ip)
{
    struct return_place place;
    if (branch->kind == BRANCH_RETURN && return_stack_pop(&decoder->returns, &place) &&
        place.address == ip && place.block)
        return place.block;
    if (!branch->indirect || branch->indirect->ip != ip)
        branch->indirect = block_at(decoder, ip);
    return branch->indirect;
}

/* False when the branch is of a kind that is left to the long way. */
static bool take_tip(struct decoder *decoder, uint64_t ip)
{
    const struct path *tail = paths_tail(decoder->paths, decoder->at);
    struct block *branch = tail->next;
    if (tail->end != PATH_AT_BRANCH || decoder->mode != decoder->next_mode ||
        (branch->kind != BRANCH_RETURN && branch->kind != BRANCH_CALL &&
         branch->kind != BRANCH_JUMP))
        return false;
    run_path(decoder, tail);
    struct block *to = target_of(decoder, branch, ip);
    if (branch->kind == BRANCH_RETURN)
        add_event(decoder, FLOW_RETURN, tail, 0, to);
    else if (branch->kind == BRANCH_CALL)
        add_event(decoder, FLOW_CALL, tail, branch->next, to);
    else if (tail->flags & FLOW_LOADS_STACK || tail->function != to->bounds.function)
        add_event(decoder, FLOW_JUMP, tail, 0, to);
    decoder->at = to;
    return true;
}

/* The packet before has told when the branch happened that was just taken. */
static void time_branch(struct decoder *decoder, size_t events_before)
{
    struct event_batch *batch = &decoder->flow.batch;
    if (batch->count > events_before)
        batch->events[batch->count - 1].flags |= FLOW_TIME_EXACT;
    event_batch_anchor(batch, decoder->flow.position, decoder->time.now);
    decoder->time_is_news = false;
}

/* The bytes of each IPBytes field; 0: none, or reserved. */
static const uint8_t address_sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};

enum { LONGEST_SHORT_WAY = 16 }; /* bytes that may be read without asking */

static uint64_t read_bytes(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* Takes the packets at decoder->next as long as there are short ways for them. */
static void take_usual_packets(struct decoder *decoder, uint64_t limit, uint64_t *steps)
{
    const uint8_t *end = decoder->end - LONGEST_SHORT_WAY;
    while (decoder->plain && decoder->next < end && (*steps)--) {
        const uint8_t *next = decoder->next;
        uint8_t first = *next;
        if (!(first & 1) && first > 2) { /* TNT of up to six bits: bits, leading 1 on top, then 0 */
            unsigned count = 30 - (unsigned)__builtin_clz(first);
            decoder->next = next + 1;
            take_bits(decoder, first >> 1, count);
        } else if ((first & 0x1f) == PT_TIP) {
            unsigned compression = first >> 5;
            unsigned size = address_sizes[compression];
            size_t events = decoder->flow.batch.count;
            uint64_t last_ip = decoder->last_ip;
            if (!size || !pt_last_ip_update(&last_ip, (uint8_t)compression, read_bytes(next + 1)) ||
                !take_tip(decoder, last_ip))
                return;
            decoder->last_ip = last_ip;
            decoder->next = next + 1 + size;
            if (decoder->time_is_news)
                time_branch(decoder, events);
        } else if ((first & 7) == 3) { /* CYC of one byte */
            decoder_settle_time(decoder);
            packet_time_cyc(&decoder->time, first >> 3);
            decoder->time_is_news = true;
            decoder->next = next + 1;
            if (decoder->time.now.value >= decoder->wake)
                decoder_wake(decoder);
            if (decoder->time.now.value > limit)
                return;
        } else if (first == 2 && next[1] == 0xa3) { /* TNT of up to 47 bits */
            uint64_t bits = read_bytes(next + 2) & ((UINT64_C(1) << 48) - 1);
            if (bits < 2)
                return;
            decoder->next = next + 8;
            take_bits(decoder, bits, 63 - (unsigned)__builtin_clzll(bits));
        } else {
            return;
        }
    }
}

static void finish(struct decoder *decoder)
{
    struct control_flow *flow = &decoder->flow;
    decoder_tell_place(decoder);
    control_flow_time(flow, flow->position, decoder->time.now);
    if (decoder->input.lost_after)
        control_flow_gap(flow, FLOW_GAP_LOST, 0, 0);
    else
        control_flow_stop(flow);
    event_batch_flush(&flow->batch, NULL);
    decoder->ended = true;
}

bool decoder_run(struct decoder *decoder, struct ticks limit, uint64_t steps)
{
    while (!decoder->ended && steps && decoder->time.now.value <= limit.value) {
        steps--;
        if (decoder->plain)
            take_usual_packets(decoder, limit.value, &steps);
        if (decoder->next == decoder->end) {
            finish(decoder);
        } else {
            decoder_take_packet(decoder);
            decoder_settle(decoder);
        }
    }
    return !decoder->ended;
}
