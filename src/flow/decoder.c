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

static inline void push_all(struct decoder *decoder, const struct return_place *pushes,
                            unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        return_stack_push(&decoder->returns, pushes[i], 1);
}

static inline void run_path(struct decoder *decoder, const struct path *path)
{
    struct control_flow *flow = &decoder->flow;
    event_batch_add_path(&flow->batch, path->events, path->event_count, flow->position);
    flow->position += path->instructions;
    flow->last_ip = path->last_ip;
    push_all(decoder, path->pushes, path->push_count);
    decoder->at = path->next;
}

static inline void run_stride(struct decoder *decoder, const struct stride *stride)
{
    struct control_flow *flow = &decoder->flow;
    event_batch_add_path(&flow->batch, stride->events, stride->event_count, flow->position);
    flow->position += stride->instructions;
    flow->last_ip = stride->last_ip;
    push_all(decoder, stride->pushes, stride->push_count);
}

static inline void add_event(struct decoder *decoder, const struct stride *stride,
                             enum flow_kind kind, uint8_t flags, uint64_t next,
                             const struct block *to)
{
    struct flow_event event = {.time = {0},
                               .from = stride->last_ip,
                               .to = to->ip,
                               .next = next,
                               .function = to->stride.first_function,
                               .kind = (uint8_t)kind,
                               .flags = stride->flags | flags};
    event_batch_add_path(&decoder->flow.batch, &event, 1, decoder->flow.position);
}

static struct block *block_at(struct decoder *decoder, uint64_t ip)
{
    return block_cache_find(&decoder->paths->cache, ip, decoder->mode);
}

static bool take_compressed_return(struct decoder *decoder, const struct stride *stride)
{
    struct return_place place;
    if (!return_stack_pop(&decoder->returns, &place)) {
        decoder_fail(decoder, DECODE_EMPTY_RETURN_STACK, stride->last_ip);
        return false;
    }
    decoder->at = place.block ? place.block : block_at(decoder, place.address);
    add_event(decoder, stride, FLOW_RETURN, 0, 0, decoder->at);
    return true;
}

/* The conditional jump at the end of the stride goes to another block for the first time, or into
 * another function. Where that is no event, the short way will be taken from then on. */
static void take_edge(struct decoder *decoder, struct block *block, bool taken)
{
    struct stride *stride = &block->stride;
    const struct block *branch = block->branch;
    struct block *to = block->known[taken];
    if (!to)
        to = block->known[taken] = block_at(decoder, taken ? branch->target : branch->next);
    if (stride->last_function != to->stride.first_function)
        add_event(decoder, stride, FLOW_JUMP, FLOW_DIRECT, 0, to);
    else if (stride->event_count <= 1 && stride->push_count <= 1)
        stride->to[taken] = to;
    decoder->at = to;
}

/* Takes one bit where the short way ends. False when that is too hard for here. */
static bool take_unusual_bit(struct decoder *decoder, bool taken)
{
    struct block *block = decoder->at;
    struct stride *stride = &block->stride;
    if (stride->kind == STRIDE_UNKNOWN)
        paths_learn_stride(decoder->paths, block);
    if (stride->kind != BRANCH_CONDITIONAL && (stride->kind != BRANCH_RETURN || !taken))
        return false;
    run_stride(decoder, stride);
    if (stride->kind == BRANCH_RETURN)
        return take_compressed_return(decoder, stride);
    take_edge(decoder, block, taken);
    return true;
}

/* Takes one bit after the other: `count` of them, oldest first, of which the lowest is bit 0 of
 * `bits`. Returns how many are left when it comes to what is too hard. */
static unsigned step(struct decoder *decoder, uint64_t bits, unsigned count)
{
    struct control_flow *flow = &decoder->flow;
    event_batch_reserve(&flow->batch, count);
    while (count) {
        struct block *at = decoder->at;
        const struct stride *stride = &at->stride;
        unsigned taken = bits >> (count - 1) & 1;
        struct block *to = stride->to[taken];
        if (__builtin_expect(!to, 0)) {
            if (!take_unusual_bit(decoder, taken))
                return count;
            event_batch_reserve(&flow->batch, count);
        } else {
            /* Whether there is an event or a call is what no branch predictor can guess. */
            event_batch_add_step(&flow->batch, stride->events, stride->event_count, flow->position);
            return_stack_push(&decoder->returns, *stride->pushes, stride->push_count);
            flow->position += stride->instructions;
            flow->last_ip = stride->last_ip;
            decoder->at = to;
        }
        count--;
    }
    return 0;
}

static uint64_t lowest(uint64_t bits, unsigned count)
{
    return bits & ((UINT64_C(1) << count) - 1);
}

/* Takes `count` bits, oldest first, of which the lowest is bit 0 of `bits`. */
static void take_bits(struct decoder *decoder, uint64_t bits, unsigned count)
{
    while (count) {
        unsigned chunk = count < PATH_BITS ? count : PATH_BITS;
        count -= chunk;
        uint64_t these = lowest(bits >> count, chunk);
        const struct path *path =
            paths_find(decoder->paths, decoder->at, (uint32_t)(these | 1u << chunk));
        if (path) {
            run_path(decoder, path);
            continue;
        }
        unsigned left = step(decoder, these, chunk);
        if (left) {
            count += left;
            if (decoder->at)
                decoder_take_bits(decoder, lowest(bits, count) | UINT64_C(1) << count);
            decoder_settle(decoder);
            return;
        }
    }
    decoder->holds_time |= decoder->time_is_news;
    decoder->time_is_news = false;
}

static struct block *target_of(struct decoder *decoder, struct block *block, uint64_t ip)
{
    struct return_place place;
    if (block->stride.kind == BRANCH_RETURN && return_stack_pop(&decoder->returns, &place) &&
        place.address == ip && place.block)
        return place.block;
    struct block *to = block->known[0];
    if (!to || to->ip != ip)
        to = block->known[0] = block_at(decoder, ip);
    return to;
}

/* False when the branch is of a kind that is left to the long way. */
static bool take_tip(struct decoder *decoder, uint64_t ip)
{
    struct block *block = decoder->at;
    struct stride *stride = &block->stride;
    if (stride->kind == STRIDE_UNKNOWN)
        paths_learn_stride(decoder->paths, block);
    if (decoder->mode != decoder->next_mode ||
        (stride->kind != BRANCH_RETURN && stride->kind != BRANCH_CALL &&
         stride->kind != BRANCH_JUMP))
        return false;
    run_stride(decoder, stride);
    struct block *to = target_of(decoder, block, ip);
    if (stride->kind == BRANCH_RETURN) {
        add_event(decoder, stride, FLOW_RETURN, 0, 0, to);
    } else if (stride->kind == BRANCH_CALL) {
        add_event(decoder, stride, FLOW_CALL, 0, block->branch->next, to);
    } else if (stride->flags & FLOW_LOADS_STACK ||
               stride->last_function != to->stride.first_function) {
        add_event(decoder, stride, FLOW_JUMP, 0, 0, to);
    }
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
