/* How memos are made: by doing what the packets say, branch by branch, and watching the decoder. So
 * a memo does what would have been done without it, whatever that is.
 */
#include "flow/short_ways.h"

/* A memo that is being learnt: what happens to the decoder meanwhile. */
struct learning {
    const uint8_t *start, *stop;     /* of the packets */
    const struct flow_event *events; /* of the batch at first, and how many of them there were */
    size_t event_count, timed;
    uint64_t position;
    uint64_t pushed;                       /* of the return stack at first */
    uint64_t lowest;                       /* the lowest that it has been */
    struct return_place newest[MEMO_POPS]; /* calls at first */
    int64_t pops_from;
    unsigned packets;
    bool needs_last;
};

static struct learning begin_learning(struct decoder *decoder, unsigned reach)
{
    const struct return_stack *returns = &decoder->returns;
    struct event_batch *batch = &decoder->flow.batch;
    event_batch_reserve(batch, MEMO_EVENTS);
    struct learning learning = {.start = decoder->next,
                                .stop = decoder->next + reach,
                                .events = batch->events,
                                .event_count = batch->count,
                                .timed = batch->timed,
                                .position = decoder->flow.position,
                                .pushed = returns->pushed,
                                .lowest = returns->pushed,
                                .pops_from = NO_POPS};
    for (unsigned i = 0; i < MEMO_POPS; i++)
        learning.newest[i] = returns->places[(returns->pushed - 1 - i) % RETURN_STACK_SLOTS];
    return learning;
}

/* What a branch may change. */
struct moment {
    size_t events;
    uint64_t pushed;
    bool is_empty; /* the return stack */
};

static struct moment now(const struct decoder *decoder)
{
    const struct return_stack *returns = &decoder->returns;
    return (struct moment){decoder->flow.batch.count, returns->pushed,
                           returns->pushed == returns->floor};
}

/* A branch has been taken. */
static void watch_branch(struct learning *learning, const struct decoder *decoder,
                         struct moment before)
{
    const struct event_batch *batch = &decoder->flow.batch;
    uint64_t pushed = decoder->returns.pushed;
    if (pushed < learning->lowest)
        learning->lowest = pushed;
    if (batch->count == before.events || batch->events[batch->count - 1].kind != FLOW_RETURN)
        return;
    int64_t pops_from = (int64_t)(pushed + 1 - learning->pushed);
    if (pops_from > learning->pops_from)
        learning->pops_from = pops_from;
    learning->needs_last |= before.is_empty && pushed == before.pushed;
}

static bool learn_bit(struct learning *learning, struct decoder *decoder, uint64_t bit)
{
    struct moment before = now(decoder);
    if (!short_bit(decoder, bit))
        return false;
    watch_branch(learning, decoder, before);
    return true;
}

static enum way learn_tnt(struct learning *learning, struct decoder *decoder, struct tnt tnt)
{
    if (!tnt.count)
        return WAY_STOP;
    decoder->next += tnt.size;
    for (unsigned left = tnt.count; left; left--)
        if (!learn_bit(learning, decoder, tnt.bits >> (left - 1) & 1)) {
            short_bits_give_up(decoder, tnt.bits, left);
            return WAY_LEFT;
        }
    short_bits_tell(decoder);
    return WAY_ON;
}

static enum way learn_tip(struct learning *learning, struct decoder *decoder)
{
    struct moment before = now(decoder);
    enum way way = usual_tip(decoder);
    if (way == WAY_ON)
        watch_branch(learning, decoder, before);
    return way;
}

static enum way learn_packet(struct learning *learning, struct decoder *decoder)
{
    const uint8_t *packet = decoder->next;
    size_t room = (size_t)(learning->stop - packet);
    if (is_short_tnt(packet))
        return learn_tnt(learning, decoder, short_tnt(packet));
    if (room >= LONG_TNT_SIZE && is_long_tnt(packet))
        return learn_tnt(learning, decoder, long_tnt(packet));
    if (room > tip_address_size(packet) && is_tip(packet))
        return learn_tip(learning, decoder);
    return WAY_STOP;
}

/* False where a memo could not hold it. */
static bool is_memorable(const struct learning *learning, const struct decoder *decoder)
{
    const struct event_batch *batch = &decoder->flow.batch;
    return learning->packets && batch->events == learning->events &&
           batch->timed == learning->timed && batch->count <= learning->event_count + MEMO_EVENTS &&
           learning->pushed - learning->lowest <= MEMO_POPS &&
           decoder->returns.pushed - learning->lowest <= RETURN_STACK_DEPTH &&
           learning->pops_from <= RETURN_STACK_DEPTH;
}

static const struct flow_event *keep_events(const struct learning *learning, struct paths *paths,
                                            size_t count)
{
    struct flow_event *events = paths_allocate(paths, count * sizeof(*events));
    for (size_t i = 0; i < count; i++) {
        events[i] = learning->events[learning->event_count + i];
        events[i].time.value -= learning->position;
    }
    return events;
}

static const struct return_place *keep_places(const struct learning *learning, struct paths *paths,
                                              const struct return_stack *returns)
{
    size_t pops = learning->pushed - learning->lowest;
    size_t pushes = returns->pushed - learning->lowest;
    struct return_place *places = paths_allocate(paths, (pops + pushes) * sizeof(*places));
    memcpy(places, learning->newest, pops * sizeof(*places));
    for (size_t i = 0; i < pushes; i++)
        places[pops + i] = returns->places[(learning->lowest + i) % RETURN_STACK_SLOTS];
    return places;
}

static struct memo memo_of(const struct learning *learning, struct decoder *decoder,
                           const struct memo_key *key)
{
    const struct control_flow *flow = &decoder->flow;
    const struct return_stack *returns = &decoder->returns;
    size_t events = flow->batch.count - learning->event_count;
    return (struct memo){
        .key = *key,
        .events = keep_events(learning, decoder->paths, events),
        .places = keep_places(learning, decoder->paths, returns),
        .last_ip = decoder->last_ip,
        .last_executed = short_ways_last_executed(decoder),
        .next = decoder->at_id,
        .instructions = (uint32_t)(flow->position - learning->position),
        .event_count = (uint16_t)events,
        .size = (uint8_t)(decoder->next - learning->start),
        .packets = (uint8_t)learning->packets,
        .pop_count = (uint8_t)(learning->pushed - learning->lowest),
        .push_count = (uint8_t)(returns->pushed - learning->lowest),
        .needs_last = learning->needs_last,
        .pops_from = (int8_t)learning->pops_from,
    };
}

enum way memo_learn(struct decoder *decoder, struct memo *slot, const struct memo_key *key,
                    unsigned reach)
{
    paths_keep_up(decoder->paths);
    struct learning learning = begin_learning(decoder, reach);
    enum way way = WAY_ON;
    while (decoder->next < learning.stop && way == WAY_ON) {
        way = learn_packet(&learning, decoder);
        learning.packets += way == WAY_ON;
    }
    if (way != WAY_LEFT && is_memorable(&learning, decoder))
        *slot = memo_of(&learning, decoder, key);
    return way == WAY_LEFT || !learning.packets ? way : WAY_ON;
}
