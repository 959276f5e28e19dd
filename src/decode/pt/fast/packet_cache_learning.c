/* How packet-sequence cache entries are made: by doing what the packets say, branch by branch, and
 * recording what the decoder does. So an entry has exactly the effect of decoding without it.
 */
#include "decode/pt/fast/fast_path.h"

/* An entry that is being learnt: the changes of the decoder meanwhile. */
struct learning {
    const uint8_t *stop;                       /* of the packets */
    uint64_t position;                         /* at the start */
    uint64_t pushed;                           /* of the return stack at the start */
    uint64_t lowest;                           /* the lowest since then */
    struct return_place newest[SEQUENCE_POPS]; /* calls at the start */
    int64_t pops_from;
    bool needs_last;
    bool is_counted;
    bool is_strange; /* an entry cannot hold it */
    unsigned packets;
    uint16_t ends[SEQUENCE_COUNTED_PACKETS]; /* as in struct packet_sequence */
    uint8_t tips;
    unsigned event_count;
    struct flow_event events[SEQUENCE_EVENTS]; /* as in struct packet_sequence */
};

static void begin_learning(struct learning *learning, const struct decoder *decoder,
                           const uint8_t *stop, bool is_counted)
{
    const struct return_stack *returns = &decoder->returns;
    learning->stop = stop;
    learning->position = decoder->flow.position;
    learning->pushed = learning->lowest = returns->pushed;
    learning->pops_from = NO_POPS;
    learning->needs_last = learning->is_strange = false;
    learning->is_counted = is_counted;
    learning->packets = learning->event_count = 0;
    learning->tips = 0;
    for (unsigned i = 0; i < SEQUENCE_POPS; i++)
        learning->newest[i] = returns->places[(returns->pushed - 1 - i) % RETURN_STACK_SLOTS];
}

/* Branches. */

/* State that a branch may change. */
struct moment {
    size_t events;
    uint64_t pushed;
    bool is_empty; /* the return stack is */
};

static struct moment now(const struct decoder *decoder)
{
    const struct return_stack *returns = &decoder->returns;
    return (struct moment){decoder->flow.batch.count, returns->pushed,
                           returns->pushed == returns->floor};
}

/* Notes what a branch has changed. */
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
    if (!fast_tnt_bit(decoder, bit))
        return false;
    watch_branch(learning, decoder, before);
    return true;
}

/* Packets. */

/* Where a packet's events begin. */
struct beginning {
    const struct flow_event *events;
    size_t count, timed;
};

static struct beginning beginning_of(const struct event_batch *batch)
{
    return (struct beginning){batch->events, batch->count, batch->timed};
}

/* Copies the events of a packet before they get their times. If the batch had to make room, they
 * have moved, and the entry is given up. */
static void keep_events(struct learning *learning, const struct event_batch *batch,
                        struct beginning from)
{
    if (batch->events != from.events || batch->timed != from.timed ||
        batch->count - from.count > SEQUENCE_EVENTS - learning->event_count) {
        learning->is_strange = true;
        return;
    }
    for (size_t i = from.count; i < batch->count; i++) {
        struct flow_event *event = &learning->events[learning->event_count++];
        *event = batch->events[i];
        event->time.value -= learning->position;
    }
}

static enum way learn_tnt(struct learning *learning, struct decoder *decoder, struct tnt tnt)
{
    if (!tnt.count)
        return WAY_STOP;
    struct beginning from = beginning_of(&decoder->flow.batch);
    decoder->next += tnt.size;
    for (unsigned left = tnt.count; left; left--)
        if (!learn_bit(learning, decoder, tnt.bits >> (left - 1) & 1)) {
            fast_tnt_give_up(decoder, tnt.bits, left);
            return WAY_LEFT;
        }
    keep_events(learning, &decoder->flow.batch, from);
    fast_tnt_report(decoder);
    return WAY_ON;
}

static enum way learn_tip(struct learning *learning, struct decoder *decoder)
{
    struct beginning from = beginning_of(&decoder->flow.batch);
    struct moment before = now(decoder);
    enum way way = fast_tip(decoder);
    if (way != WAY_ON)
        return way;
    watch_branch(learning, decoder, before);
    if (decoder->time_is_news)
        mark_exact(decoder, from.count);
    keep_events(learning, &decoder->flow.batch, from);
    if (decoder->time_is_news)
        anchor_branch(decoder);
    if (learning->is_counted)
        learning->tips |= (uint8_t)(1u << learning->packets);
    return WAY_ON;
}

static enum way learn_branches(struct learning *learning, struct decoder *decoder)
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

/* A packet and the CYC packet before it, if cycles are counted. */
static enum way learn_packet(struct learning *learning, struct decoder *decoder)
{
    enum way way = WAY_ON;
    if (learning->is_counted && is_cyc(decoder->next))
        way = fast_cyc(decoder);
    if (way == WAY_ON)
        way = learn_branches(learning, decoder);
    if (way != WAY_ON)
        return way;
    if (learning->is_counted)
        learning->ends[learning->packets] = (uint16_t)(decoder->flow.position - learning->position);
    learning->packets++;
    return WAY_ON;
}

/* The whole sequence. */

static bool is_memorable(const struct learning *learning, const struct decoder *decoder)
{
    uint64_t executed = decoder->flow.position - learning->position;
    return learning->packets && !learning->is_strange &&
           executed <= (learning->is_counted ? UINT16_MAX : UINT32_MAX) &&
           learning->pushed - learning->lowest <= SEQUENCE_POPS &&
           decoder->returns.pushed - learning->lowest <= RETURN_STACK_DEPTH &&
           learning->pops_from <= RETURN_STACK_DEPTH;
}

/* The events, and the calls after them. */
static const struct flow_event *keep_effects(const struct learning *learning,
                                             struct tnt_cache *tnt_cache,
                                             const struct return_stack *returns)
{
    size_t pops = learning->pushed - learning->lowest;
    size_t pushes = returns->pushed - learning->lowest;
    struct flow_event *events =
        tnt_cache_allocate(tnt_cache, learning->event_count * sizeof(*events) +
                                          (pops + pushes) * sizeof(struct return_place));
    struct return_place *places = (struct return_place *)(events + learning->event_count);
    memcpy(events, learning->events, learning->event_count * sizeof(*events));
    memcpy(places, learning->newest, pops * sizeof(*places));
    for (size_t i = 0; i < pushes; i++)
        places[pops + i] = returns->places[(learning->lowest + i) % RETURN_STACK_SLOTS];
    return events;
}

static struct packet_sequence packet_sequence_of(const struct learning *learning,
                                                 struct decoder *decoder,
                                                 const struct packet_sequence_key *key, size_t size)
{
    const struct return_stack *returns = &decoder->returns;
    struct packet_sequence sequence = {
        .key = *key,
        .events = keep_effects(learning, decoder->tnt_cache, returns),
        .last_ip = decoder->last_ip,
        .next = decoder->at_id,
        .last_id = decoder->last_id,
        .instructions = (uint32_t)(decoder->flow.position - learning->position),
        .tips = learning->tips,
        .size = (uint8_t)size,
        .packets = (uint8_t)learning->packets,
        .event_count = (uint16_t)learning->event_count,
        .pop_count = (uint8_t)(learning->pushed - learning->lowest),
        .push_count = (uint8_t)(returns->pushed - learning->lowest),
        .needs_last = learning->needs_last,
        .pops_from = (int8_t)learning->pops_from,
    };
    if (learning->is_counted)
        memcpy(sequence.ends, learning->ends, learning->packets * sizeof(*sequence.ends));
    return sequence;
}

enum way packet_sequence_learn(struct decoder *decoder, struct packet_sequence *slot,
                               const struct packet_sequence_key *key, const uint8_t *stop)
{
    struct learning learning;
    const uint8_t *start = decoder->next;
    enum way way = WAY_ON;
    tnt_cache_keep_up(decoder->tnt_cache);
    begin_learning(&learning, decoder, stop, key->block & SEQUENCE_COUNTED);
    while (way == WAY_ON && decoder->next < stop)
        way = learn_packet(&learning, decoder);
    if (way == WAY_LEFT)
        return way;
    if (is_memorable(&learning, decoder))
        *slot = packet_sequence_of(&learning, decoder, key, (size_t)(decoder->next - start));
    /* A packet that was not taken is left to the caller's next try; a deadline is not. */
    bool is_due = decoder->time.now.value >= decoder->deadline;
    return decoder->next == start || is_due ? WAY_STOP : WAY_ON;
}
