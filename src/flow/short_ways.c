/* The short ways for TNT, TIP and CYC packets, which nearly all are: by strides, steps and paths
 * (path.h). Everything unusual is left to decoder_packets.c.
 */
#include "flow/decoder_state.h"
#include "packet/packet.h"

#include <string.h>

/* They are taken while decoder->plain: the place in the code is known, and nothing
 * is to be minded but the packet itself. Where one cannot deal with a packet it does nothing and
 * says so. */

static inline struct block_cache *cache_of(struct decoder *decoder)
{
    return &decoder->paths->cache;
}

static void enter_short_ways(struct decoder *decoder)
{
    decoder->at_id = decoder->at->id;
    decoder->last_id = 0;
}

static void leave_short_ways(struct decoder *decoder)
{
    decoder->at = block_of_id(cache_of(decoder), decoder->at_id);
    if (decoder->last_id)
        decoder->flow.last_ip = block_of_id(cache_of(decoder), decoder->last_id)->stride.last_ip;
    decoder->last_id = 0;
}

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
    decoder->last_id = 0;
    decoder->at_id = path->next;
}

static void run_stride(struct decoder *decoder, const struct block *block)
{
    struct control_flow *flow = &decoder->flow;
    const struct stride *stride = &block->stride;
    event_batch_add_path(&flow->batch, stride->events, stride->event_count, flow->position);
    flow->position += stride->instructions;
    push_all(decoder, stride->pushes, stride->push_count);
    decoder->last_id = block->id;
}

static void add_event(struct decoder *decoder, const struct stride *stride, enum flow_kind kind,
                      uint8_t flags, uint64_t next, const struct block *to)
{
    struct flow_event event = {.time = {0},
                               .from = stride->last_ip,
                               .to = to->ip,
                               .next = next,
                               .function = to->bounds.function,
                               .kind = (uint8_t)kind,
                               .flags = stride->flags | flags};
    event_batch_add_path(&decoder->flow.batch, &event, 1, decoder->flow.position);
}

static struct block *block_at(struct decoder *decoder, uint64_t ip)
{
    return block_cache_find(cache_of(decoder), ip, decoder->mode);
}

/* Takes the step of a block that returns, to `place`. */
static inline void step_to_place(struct decoder *decoder, const struct step *step,
                                 const struct return_place *place)
{
    struct control_flow *flow = &decoder->flow;
    event_batch_reserve(&flow->batch, 1);
    struct flow_event *event = &flow->batch.events[flow->batch.count++];
    *event = step_effect_of(cache_of(decoder), step)->event;
    event->time.value += flow->position;
    event->to = place->address;
    event->function = place->function;
    flow->position += step->instructions;
    decoder->last_id = decoder->at_id;
    decoder->at_id = place->block;
}

/* False when there is no such call; then nothing has happened. */
static bool pop_place(struct decoder *decoder, struct return_place *place)
{
    if (!return_stack_pop(&decoder->returns, place))
        return false;
    if (place->block)
        return true;
    const struct block *block = block_at(decoder, place->address);
    place->block = block->id;
    place->function = block->bounds.function;
    return true;
}

/* The conditional jump at the end of the stride goes to another block for the first time, or into
 * another function. Where that is no event, a step will do from then on. */
static void take_edge(struct decoder *decoder, struct block *block, bool taken)
{
    const struct block *branch = block->stride.branch;
    struct block *to = block->to[taken];
    if (!to)
        to = block->to[taken] = block_at(decoder, taken ? branch->target : branch->next);
    if (block->stride.branch_function != to->bounds.function)
        add_event(decoder, &block->stride, FLOW_JUMP, FLOW_DIRECT, 0, to);
    else
        paths_learn_step(decoder->paths, block, taken, to);
    decoder->at_id = to->id;
}

/* Takes one bit where no step is known. False when that is too hard for here; then nothing has
 * happened. */
static bool take_unusual_bit(struct decoder *decoder, bool taken)
{
    struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
    struct stride *stride = &block->stride;
    struct return_place place;
    if (stride->kind == STRIDE_UNKNOWN)
        paths_learn_stride(decoder->paths, block);
    if (stride->kind == BRANCH_CONDITIONAL) {
        run_stride(decoder, block);
        take_edge(decoder, block, taken);
        return true;
    }
    if (stride->kind != BRANCH_RETURN || !taken ||
        (!stride->push_count && !return_stack_newest(&decoder->returns, &place)))
        return false;
    run_stride(decoder, block);
    if (!pop_place(decoder, &place))
        return false;
    add_event(decoder, stride, FLOW_RETURN, 0, 0, block_of_id(cache_of(decoder), place.block));
    decoder->at_id = place.block;
    return true;
}

static bool take_return(struct decoder *decoder)
{
    struct return_place place;
    if (!pop_place(decoder, &place))
        return false;
    /* Looking for the place may have moved the steps. */
    step_to_place(decoder, step_of(cache_of(decoder), decoder->at_id), &place);
    return true;
}

/* Takes as many of the bits as there are steps for: `count` of them, oldest first, of which the
 * lowest is bit 0 of `bits`. Returns how many are left. */
static inline unsigned take_plain_steps(struct decoder *decoder, uint64_t bits, unsigned count)
{
    const struct block_cache *cache = cache_of(decoder);
    const struct step *steps = cache->steps.elements;
    const struct step_effect *effects = cache->effects.elements;
    struct event_batch *batch = &decoder->flow.batch;
    struct return_stack *returns = &decoder->returns;
    struct flow_event *added = batch->events + batch->count;
    uint64_t position = decoder->flow.position;
    uint64_t pushed = returns->pushed;
    uint32_t at = decoder->at_id, last = decoder->last_id;
    for (bits <<= 64 - count; count; count--, bits <<= 1) {
        const struct step *step = &steps[at];
        uint32_t to = step->to[bits >> 63];
        if (__builtin_expect(to - 1 >= (uint32_t)STEP_INDIRECT - 1, 0)) {
            const struct return_place *place = &returns->places[(pushed - 1) % RETURN_STACK_SLOTS];
            if (to != (uint32_t)STEP_RETURNS || pushed == returns->floor || !place->block)
                break;
            if (pushed - returns->floor > RETURN_STACK_DEPTH)
                returns->floor = pushed - RETURN_STACK_DEPTH;
            *added = effects[step->effect].event;
            added->time.value += position;
            added->to = place->address;
            added->function = place->function;
            added++;
            pushed--;
            position += step->instructions;
            last = at;
            at = place->block;
            continue;
        }
        if (step->effect) { /* the event, the call or both: what there is not does not count */
            const struct step_effect *effect = &effects[step->effect];
            *added = effect->event;
            added->time.value += position;
            added += step->event_count;
            returns->places[pushed % RETURN_STACK_SLOTS] = effect->push;
            pushed += step->push_count;
        }
        position += step->instructions;
        last = at;
        at = to;
    }
    batch->count = (size_t)(added - batch->events);
    returns->pushed = pushed;
    decoder->flow.position = position;
    decoder->at_id = at;
    decoder->last_id = last;
    return count;
}

/* Takes one bit after the other: `count` of them, oldest first, of which the lowest is bit 0 of
 * `bits`. Returns how many are left when it comes to what is too hard. */
static unsigned take_steps(struct decoder *decoder, uint64_t bits, unsigned count)
{
    while (count) {
        event_batch_reserve(&decoder->flow.batch, count + 1);
        count = take_plain_steps(decoder, bits, count);
        if (!count)
            break;
        unsigned taken = bits >> (count - 1) & 1;
        const struct step *step = step_of(cache_of(decoder), decoder->at_id);
        bool done = step->to[taken] == (uint32_t)STEP_RETURNS ? take_return(decoder)
                                                              : take_unusual_bit(decoder, taken);
        if (!done)
            return count;
        count--;
    }
    return 0;
}

static uint64_t lowest(uint64_t bits, unsigned count)
{
    return bits & ((UINT64_C(1) << count) - 1);
}

/* Takes `count` bits, oldest first, of which the lowest is bit 0 of `bits`. False: the short ways
 * have been left. */
static bool take_bits(struct decoder *decoder, uint64_t bits, unsigned count)
{
    while (count) {
        unsigned chunk = count;
        const struct path *path = NULL;
        if (!paths_rest(decoder->paths, count)) {
            chunk = count < PATH_BITS ? count : PATH_BITS;
            path = paths_find(decoder->paths, decoder->at_id,
                              (uint32_t)lowest(bits >> (count - chunk), chunk) | 1u << chunk);
        }
        count -= chunk;
        if (path) {
            run_path(decoder, path);
            continue;
        }
        uint64_t these = bits >> count;
        unsigned left = take_steps(decoder, these, chunk);
        if (left) {
            count += left;
            leave_short_ways(decoder);
            decoder_take_bits(decoder, lowest(bits, count) | UINT64_C(1) << count);
            decoder->time_is_news = false;
            decoder_settle(decoder);
            return false;
        }
    }
    decoder->holds_time |= decoder->time_is_news;
    decoder->time_is_news = false;
    return true;
}

static struct block *target_of(struct decoder *decoder, struct block *block, uint64_t ip)
{
    struct return_place place;
    if (block->stride.kind == BRANCH_RETURN)
        return_stack_pop(&decoder->returns, &place);
    struct block *to = block->to[0];
    if (!to || to->ip != ip)
        to = block->to[0] = block_at(decoder, ip);
    return to;
}

/* A return whose address is what a call has left behind, although it has a packet of its own. False
 * when it is none; then nothing has happened. */
static bool take_expected_return(struct decoder *decoder, const struct step *step, uint64_t ip)
{
    struct return_stack *returns = &decoder->returns;
    struct return_place place;
    if (!return_stack_newest(returns, &place) || place.address != ip || !place.block)
        return false;
    return_stack_pop(returns, &place);
    step_to_place(decoder, step, &place);
    return true;
}

/* An indirect jump or call. */
static void take_indirect(struct decoder *decoder, uint64_t ip)
{
    struct control_flow *flow = &decoder->flow;
    struct block_cache *cache = cache_of(decoder);
    const struct block_slot *slot = block_cache_slot(cache, ip, decoder->mode);
    if (!slot->id) {
        block_at(decoder, ip);
        slot = block_cache_slot(cache, ip, decoder->mode);
    }
    const struct step *step = step_of(cache, decoder->at_id);
    const struct step_effect *effect = step_effect_of(cache, step);
    const struct step_effect *call = effect;
    event_batch_reserve(&flow->batch, 2);
    struct flow_event *event = &flow->batch.events[flow->batch.count];
    if (step->event_count) {
        call = effect - 1;
        *event = call->event;
        event->time.value += flow->position;
        event++;
    }
    *event = effect->event;
    event->time.value += flow->position;
    event->to = ip;
    event->function = slot->function;
    /* Written in any case, because nobody can foresee which jumps leave their function. */
    event += (effect->event.kind == FLOW_CALL) | ((effect->event.flags & FLOW_LOADS_STACK) != 0) |
             (slot->function != effect->push.function);
    flow->batch.count = (size_t)(event - flow->batch.events);
    return_stack_push(&decoder->returns, call->push, step->push_count);
    flow->position += step->instructions;
    decoder->last_id = decoder->at_id;
    decoder->at_id = slot->id;
}

/* Takes the branch to `ip` by a step, if one is known for it. */
static bool take_tip_step(struct decoder *decoder, uint64_t ip)
{
    const struct step *step = step_of(cache_of(decoder), decoder->at_id);
    if (decoder->mode != decoder->next_mode)
        return false;
    if (step->to[1] == (uint32_t)STEP_RETURNS)
        return take_expected_return(decoder, step, ip);
    if (step->to[0] != (uint32_t)STEP_INDIRECT)
        return false;
    take_indirect(decoder, ip);
    return true;
}

/* False when the branch is of a kind that is left to the long way. */
static bool take_tip(struct decoder *decoder, uint64_t ip)
{
    struct block *block = block_of_id(cache_of(decoder), decoder->at_id);
    struct stride *stride = &block->stride;
    if (stride->kind == STRIDE_UNKNOWN)
        paths_learn_stride(decoder->paths, block);
    if (decoder->mode != decoder->next_mode ||
        (stride->kind != BRANCH_RETURN && stride->kind != BRANCH_CALL &&
         stride->kind != BRANCH_JUMP))
        return false;
    run_stride(decoder, block);
    struct block *to = target_of(decoder, block, ip);
    if (stride->kind == BRANCH_RETURN)
        add_event(decoder, stride, FLOW_RETURN, 0, 0, to);
    else if (stride->kind == BRANCH_CALL)
        add_event(decoder, stride, FLOW_CALL, 0, stride->branch->next, to);
    else if (stride->flags & FLOW_LOADS_STACK ||
             block->stride.branch_function != to->bounds.function)
        add_event(decoder, stride, FLOW_JUMP, 0, 0, to);
    decoder->at_id = to->id;
    return true;
}

/* The packet before has told when the branch happened that was just taken. An event before that of
 * the branch, of a call on the way, has another position. */
static void time_branch(struct decoder *decoder, size_t events_before)
{
    struct event_batch *batch = &decoder->flow.batch;
    size_t newest = batch->count - 1;
    if (batch->count > events_before && batch->events[newest].time.value == decoder->flow.position)
        batch->events[newest].flags |= FLOW_TIME_EXACT;
    event_batch_anchor(batch, decoder->flow.position, decoder->time.now);
    decoder->time_is_news = false;
}

/* The bytes of each IPBytes field; 0: none, or reserved. */
static const uint8_t address_sizes[8] = {0, 2, 4, 6, 6, 0, 8, 0};

enum {
    LONGEST_SHORT_WAY = 24, /* bytes that may be read without asking */
    PACKETS_AHEAD = 1024,   /* bytes that memory needs to be asked for early, in vain at the end */
};

static uint64_t read_bytes(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* If there is a TIP packet at `next`, its target will be looked for behind the TNT packet before:
 * until then it can have come into the processor's cache. */
static inline void expect_tip(const struct decoder *decoder, const uint8_t *next)
{
    uint64_t ip = decoder->last_ip;
    if ((*next & 0x1f) == PT_TIP &&
        pt_last_ip_update(&ip, (uint8_t)(*next >> 5), read_bytes(next + 1)))
        block_cache_expect(&decoder->paths->cache, ip);
}

/* Takes the packets at decoder->next as long as there are short ways for them. */
void decoder_take_usual_packets(struct decoder *decoder, uint64_t *steps)
{
    const uint8_t *end = decoder->end - LONGEST_SHORT_WAY;
    enter_short_ways(decoder);
    for (; decoder->next < end && *steps; --*steps) {
        const uint8_t *next = decoder->next;
        uint8_t first = *next;
        __builtin_prefetch(next + PACKETS_AHEAD);
        if (!(first & 1) && first > 2) { /* TNT of up to six bits: a leading 1, the bits, 0 */
            decoder->next = next + 1;
            expect_tip(decoder, next + 1);
            if (!take_bits(decoder, first >> 1, 30 - (unsigned)__builtin_clz(first)))
                return;
        } else if ((first & 0x1f) == PT_TIP) {
            unsigned compression = first >> 5;
            unsigned size = address_sizes[compression];
            size_t events = decoder->flow.batch.count;
            uint64_t last_ip = decoder->last_ip;
            if (!size || !pt_last_ip_update(&last_ip, (uint8_t)compression, read_bytes(next + 1)) ||
                (!take_tip_step(decoder, last_ip) && !take_tip(decoder, last_ip)))
                break;
            decoder->last_ip = last_ip;
            decoder->next = next + 1 + size;
            if (decoder->time_is_news)
                time_branch(decoder, events);
        } else if ((first & 7) == 3 || ((first & 7) == 7 && !(next[1] & 1))) {
            /* CYC of one byte, or of two */
            unsigned more = first >> 2 & 1;
            if (more && next[1] == 0x02 && next[2] == 0xf3)
                break; /* is OVF on some processors (SKD007) */
            decoder_settle_time(decoder);
            packet_time_cyc(&decoder->time, first >> 3 | (more ? next[1] >> 1 << 5 : 0));
            decoder->time_is_news = true;
            decoder->next = next + 1 + more;
            if (decoder->time.now.value >= decoder->wake)
                break;
        } else if (first == 2 && next[1] == 0xa3) { /* TNT of up to 47 bits */
            uint64_t bits = lowest(read_bytes(next + 2), 48);
            if (bits < 2)
                break;
            decoder->next = next + 8;
            expect_tip(decoder, next + 8);
            if (!take_bits(decoder, bits, 63 - (unsigned)__builtin_clzll(bits)))
                return;
        } else {
            break;
        }
    }
    leave_short_ways(decoder);
    if (decoder->time.now.value >= decoder->wake)
        decoder_wake(decoder);
}
