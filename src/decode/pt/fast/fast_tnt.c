/* The short ways for the bits of TNT packets: by paths (tnt_cache.h), else by steps. What is too hard
 * for them is left to decoder_branches.c.
 */
#include "decode/pt/fast/fast_path.h"

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

/* This and the next are always_inline: short_bit has them, too, and calls for each packet would
 * cost a twentieth of all.
 *
 * Takes as many of the bits as there are steps for: `count` of them, oldest first, of which the
 * lowest is bit 0 of `bits`. Returns how many are left. */
static inline __attribute__((always_inline)) unsigned
take_plain_steps(struct decoder *decoder, uint64_t bits, unsigned count)
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
static inline __attribute__((always_inline)) unsigned take_steps(struct decoder *decoder,
                                                                 uint64_t bits, unsigned count)
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

/* Takes the bits that are left in the long way. */
void short_bits_give_up(struct decoder *decoder, uint64_t bits, unsigned left)
{
    short_ways_leave(decoder);
    decoder_take_bits(decoder, lowest_bits(bits, left) | UINT64_C(1) << left);
    decoder->time_is_news = false;
    decoder_settle(decoder);
}

bool short_bits(struct decoder *decoder, uint64_t bits, unsigned count)
{
    while (count) {
        unsigned chunk = count;
        const struct path *path = NULL;
        if (!paths_rest(decoder->paths, count)) {
            chunk = count < PATH_BITS ? count : PATH_BITS;
            path = paths_find(decoder->paths, decoder->at_id,
                              (uint32_t)lowest_bits(bits >> (count - chunk), chunk) | 1u << chunk);
        }
        count -= chunk;
        if (path) {
            run_path(decoder, path);
            continue;
        }
        unsigned left = take_steps(decoder, bits >> count, chunk);
        if (left) {
            short_bits_give_up(decoder, bits, count + left);
            return false;
        }
    }
    short_bits_tell(decoder);
    return true;
}

bool short_bit(struct decoder *decoder, uint64_t bit)
{
    return take_steps(decoder, bit, 1) == 0;
}
