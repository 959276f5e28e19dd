/* Decoding by packet-sequence cache entries (packet_cache.h).
 *
 * Plain: TNT and TIP packets of recordings without CYC packets; the key holds their bytes. Counted:
 * different CYC packets stand between the others each time. They are taken out: the key holds the
 * TNT and TIP packets and where CYC packets stand, and the time is computed for each of them.
 */
#include "decode/pt/fast/fast_path.h"

/* Keys. */

static inline struct packet_sequence_key place_key(const struct decoder *decoder)
{
    struct return_place newest;
    return (struct packet_sequence_key){
        .block = decoder->tnt_cache->epoch << 32 | decoder->at_id,
        .last_ip = decoder->last_ip >> 16,
        .newest = return_stack_newest(&decoder->returns, &newest) ? newest.address : 0,
    };
}

/* TNT and TIP packets, and the cycles of the CYC packets before them. */
struct counted_packets {
    unsigned cycles[SEQUENCE_COUNTED_PACKETS]; /* up to and including this one's */
    uint8_t ends[SEQUENCE_COUNTED_PACKETS];    /* bytes */
    unsigned count;
};

/* Bytes that may be read for this many packets and a CYC packet after them. */
enum { COUNTED_BYTES = SEQUENCE_COUNTED_PACKETS * (2 + 8) + 3 };

static const uint64_t LONG_TNT_WORD = UINT64_C(1) << 63;

/* The packet as a word whose lowest bit is 0, and its size; 0: there is no such word. */
static inline unsigned read_packet(const uint8_t *packet, uint64_t *word)
{
    uint64_t bytes = read_word(packet);
    if (is_short_tnt(packet)) {
        *word = (bytes & 0xff) << 1;
        return 1;
    }
    if (is_tip(packet)) {
        unsigned size = 1 + tip_address_size(packet);
        if (size == 1 || size >= sizeof(bytes))
            return 0;
        *word = lowest_bits(bytes, 8 * size) << 1;
        return size;
    }
    *word = LONG_TNT_WORD | bytes >> 16 << 1;
    return is_long_tnt(packet) ? LONG_TNT_SIZE : 0;
}

/* Also converts them to words. After a long TNT packet only a TIP packet may follow: longer
 * sequences would rarely repeat. */
static inline void read_counted(struct counted_packets *packets, uint64_t *words,
                                const uint8_t *start)
{
    const uint8_t *next = start;
    unsigned cycles = 0, i = 0, size = 0;
    bool is_last = false;
    while (i < SEQUENCE_COUNTED_PACKETS && !is_last) {
        struct cyc cyc = {0, 0};
        uint64_t word;
        is_last = size == LONG_TNT_SIZE;
        if (is_last && !is_tip(next))
            break;
        if (is_cyc(next))
            cyc = read_cyc(next);
        next += cyc.size;
        size = read_packet(next, &word);
        if (!size)
            break;
        next += size;
        cycles += cyc.cycles;
        words[i] = word | (cyc.size != 0);
        packets->cycles[i] = cycles;
        packets->ends[i] = (uint8_t)(next - start);
        i++;
    }
    packets->count = i;
}

/* Lookups. */

/* Whether the calls that are popped are there; the newest is in the key. */
static inline bool has_calls_of(const struct return_stack *returns,
                                const struct packet_sequence *sequence)
{
    uint64_t calls = returns->pushed - returns->floor;
    bool enough =
        sequence->needs_last ? calls == sequence->pop_count : calls >= sequence->pop_count;
    for (unsigned i = 1; enough && i < sequence->pop_count; i++)
        enough = returns->places[(returns->pushed - 1 - i) % RETURN_STACK_SLOTS].address ==
                 packet_sequence_places(sequence)[i].address;
    return enough;
}

static inline void change_calls(struct decoder *decoder, const struct packet_sequence *sequence)
{
    struct return_stack *returns = &decoder->returns;
    int64_t depth = (int64_t)(returns->pushed - returns->floor) + sequence->pops_from;
    if (depth > RETURN_STACK_DEPTH)
        returns->floor += (uint64_t)(depth - RETURN_STACK_DEPTH);
    returns->pushed -= sequence->pop_count;
    push_all(decoder, packet_sequence_places(sequence) + sequence->pop_count, sequence->push_count);
}

/* Everything except the packets, the events, the position and the time. */
static inline void run_packet_sequence(struct decoder *decoder,
                                       const struct packet_sequence *sequence, uint64_t *steps)
{
    decoder->tnt_cache->packet_cache.hits++;
    *steps -= sequence->packets < *steps ? sequence->packets - 1u : *steps - 1;
    change_calls(decoder, sequence);
    decoder->last_id = sequence->last_id;
    decoder->at_id = sequence->next;
    decoder->last_ip = sequence->last_ip;
}

static enum way miss(struct decoder *decoder, struct packet_sequence *slot, uint64_t hash,
                     const struct packet_sequence_key *key, const uint8_t *stop)
{
    return packet_cache_miss(&decoder->tnt_cache->packet_cache, slot, hash)
               ? packet_sequence_learn(decoder, slot, key, stop)
               : WAY_STOP;
}

enum way packet_sequence_of_plain(struct decoder *decoder, uint64_t *steps)
{
    const uint8_t *next = decoder->next;
    unsigned reach = is_short_tnt(next) || is_tip(next) ? SEQUENCE_BYTES
                     : is_long_tnt(next)                ? LONG_TNT_SIZE
                                                        : 0;
    if (!reach || decoder->mode != decoder->next_mode)
        return WAY_STOP;
    struct packet_sequence_key key = place_key(decoder);
    key.words[0] = read_word(next);
    if (reach == SEQUENCE_BYTES) {
        key.words[1] = read_word(next + 8);
        key.words[2] = read_word(next + 16);
    }
    uint64_t hash = packet_sequence_hash(&key, SEQUENCE_PLAIN_WORDS);
    struct packet_sequence *slot = packet_cache_slot(&decoder->tnt_cache->packet_cache, hash);
    if (!packet_sequence_is_of(slot, &key, SEQUENCE_PLAIN_WORDS) ||
        !has_calls_of(&decoder->returns, slot))
        return miss(decoder, slot, hash, &key, next + reach);
    run_packet_sequence(decoder, slot, steps);
    event_batch_add_relative(&decoder->flow.batch, slot->events, slot->event_count,
                             decoder->flow.position);
    decoder->flow.position += slot->instructions;
    decoder->next = next + slot->size;
    return WAY_ON;
}

/* Events of an entry that are still to be added. */
struct rest {
    const struct flow_event *next, *end;
    uint64_t start; /* position where the entry begins */
};

/* The branch at `position` happened at the newest time. */
static inline void report_time(struct decoder *decoder, struct rest *rest, uint64_t position)
{
    rest->next = event_batch_add_to_anchor(&decoder->flow.batch, rest->next, rest->end, rest->start,
                                           position, decoder->time.now);
}

/* Whether a CYC packet follows, which settles the time of the branches before. */
static inline bool is_before_cyc(const uint8_t *next)
{
    return is_cyc(next) && read_cyc(next).size;
}

/* Adds the events and the times, one packet after the other as the slow path does. `next` is after
 * the packets. */
static inline void time_counted(struct decoder *decoder, const struct packet_sequence *sequence,
                                const struct counted_packets *packets, const uint8_t *next)
{
    struct control_flow *flow = &decoder->flow;
    uint64_t position = flow->position;
    struct rest rest = {sequence->events, sequence->events + sequence->event_count, position};
    unsigned cycles = 0;
    bool holds_time = decoder->holds_time;
    event_batch_reserve(&flow->batch, sequence->event_count);
    for (unsigned i = 0; i < sequence->packets; i++) {
        bool is_news = sequence->key.words[i] & 1;
        if (is_news && holds_time) {
            report_time(decoder, &rest, position);
            holds_time = false;
        }
        position = rest.start + sequence->ends[i];
        if (!is_news)
            continue;
        packet_time_cyc(&decoder->time, packets->cycles[i] - cycles);
        cycles = packets->cycles[i];
        if (sequence->tips >> i & 1)
            report_time(decoder, &rest, position);
        else
            holds_time = true;
    }
    if (holds_time && is_before_cyc(next)) {
        report_time(decoder, &rest, position);
        holds_time = false;
    }
    event_batch_add_relative(&flow->batch, rest.next, (size_t)(rest.end - rest.next), rest.start);
    event_batch_deliver_some(&flow->batch);
    decoder->holds_time = holds_time;
    flow->position = position;
}

/* Whether the deadline is after the end of the packets. */
static inline bool is_in_time(const struct decoder *decoder, const struct packet_sequence *sequence,
                              const struct counted_packets *packets)
{
    uint32_t cycles = packets->cycles[sequence->packets - 1];
    return packet_time_after(&decoder->time, cycles).value < decoder->deadline;
}

enum way packet_sequence_of_counted(struct decoder *decoder, uint64_t *steps)
{
    const uint8_t *next = decoder->next;
    struct counted_packets packets;
    if (decoder->end - next < COUNTED_BYTES || decoder->mode != decoder->next_mode)
        return WAY_STOP;
    struct packet_sequence_key key = place_key(decoder);
    key.block |= SEQUENCE_COUNTED;
    read_counted(&packets, key.words, next);
    if (!packets.count)
        return WAY_STOP;
    uint64_t hash = packet_sequence_hash(&key, SEQUENCE_WORDS);
    struct packet_sequence *slot = packet_cache_slot(&decoder->tnt_cache->packet_cache, hash);
    if (!packet_sequence_is_of(slot, &key, SEQUENCE_WORDS) ||
        !has_calls_of(&decoder->returns, slot))
        return miss(decoder, slot, hash, &key, next + packets.ends[packets.count - 1]);
    if (!is_in_time(decoder, slot, &packets))
        return WAY_STOP;
    run_packet_sequence(decoder, slot, steps);
    decoder->next = next + packets.ends[slot->packets - 1];
    time_counted(decoder, slot, &packets, decoder->next);
    return WAY_ON;
}
