#include "decode/trace_marks.h"

#include "decode/frequency_changes.h"
#include "decode/pt/packet_time.h"
#include "packet/packet_walk.h"

#include <stdlib.h>
#include <string.h>

/* attr.config is IA32_RTIT_CTL, with the bits that a user may set. */
enum { WRITES_VALUES = 1 << 12, REPORTS_SLEEP = 1 << 4 };

enum { MHZ_PER_RATIO = 100 }; /* of the bus */

/* ---- who ran on a processor ---- */

struct turn {
    uint64_t since;
    uint32_t tid;
};

/* Records are in the order of time. */
static struct array turns_of(const struct perf_data *data, uint32_t cpu)
{
    struct array turns = array_of(sizeof(struct turn));
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        if (record->cpu != cpu ||
            (record->kind != SIDEBAND_TRACE_START && record->kind != SIDEBAND_CONTEXT_SWITCH))
            continue;
        bool leaves = record->kind == SIDEBAND_CONTEXT_SWITCH && record->context_switch.out;
        *(struct turn *)array_add(&turns) = (struct turn){
            record->time.value, leaves ? record->context_switch.other_tid : record->tid};
    }
    return turns;
}

static uint32_t who_ran(const struct array *turns, uint64_t time)
{
    size_t low = 0, high = turns->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (((struct turn *)array_at(turns, middle))->since <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? ((struct turn *)array_at(turns, low - 1))->tid : UINT32_MAX;
}

/* ---- where to look ---- */

/* The first byte of the packets, and the bits of the second byte that distinguish them. */
enum {
    EXTENDED = 0x02,
    PTWRITE = 0x12,
    VALUE_BITS = 0x1f,
    CBR = 0x03,
    SLEEP = 0x22, /* PWRE; PWRX has the highest bit set */
    SLEEP_BITS = 0x7f,
};

/* The two bytes that begin a packet, with checks that exclude other packets with the same two
 * bytes. */
static bool is_value(const uint8_t *at, size_t left)
{
    enum { SIZES = 0x60, HAS_IP = 0x80, IP_BITS = 0x1f, FUP = 0x1d };
    if (left < 2 || (at[1] & VALUE_BITS) != PTWRITE)
        return false;
    size_t size = at[1] & SIZES ? 2 + 8 : 2 + 4;
    return left <= size || !(at[1] & HAS_IP) || (at[size] & IP_BITS) == FUP;
}

static bool is_other_ratio(const uint8_t *at, size_t left, uint64_t ratio)
{
    enum { SIZE = 4 };
    return left >= SIZE && at[1] == CBR && at[3] == 0 && at[2] != ratio;
}

static bool is_sleep(const uint8_t *at, size_t left)
{
    return left >= 2 && (at[1] & SLEEP_BITS) == SLEEP;
}

/* What to search for, besides changes of the frequency. */
struct wanted {
    bool values, sleep;
};

static bool may_be_mark(const uint8_t *at, size_t left, struct wanted wanted, uint64_t ratio)
{
    return *at == EXTENDED &&
           ((wanted.values && is_value(at, left)) || (wanted.sleep && is_sleep(at, left)) ||
            is_other_ratio(at, left, ratio));
}

/* Bytes examined together; compilers turn this into a few instructions. */
enum { BLOCK = 64 };

/* Whether a pair of bytes that begins in the block is the beginning of a wanted packet. Nearly all
 * blocks have none, even where EXTENDED alone is frequent. */
static bool has_pair(const uint8_t *block, struct wanted wanted)
{
    uint8_t value = wanted.values ? VALUE_BITS : 0, sleep = wanted.sleep ? SLEEP_BITS : 0;
    uint8_t found = 0;
    for (size_t i = 0; i < BLOCK; i++)
        found |=
            (block[i] == EXTENDED) & ((block[i + 1] == CBR) | ((block[i + 1] & value) == PTWRITE) |
                                      ((block[i + 1] & sleep) == SLEEP));
    return found;
}

/* The first offset from `from` on at which there may be a mark; `size`: nowhere. */
static size_t find_mark(const uint8_t *bytes, size_t size, size_t from, struct wanted wanted,
                        uint64_t ratio)
{
    for (size_t at = from; at < size; at += BLOCK) {
        size_t end = size - at > BLOCK ? at + BLOCK : size;
        if (end < size && !has_pair(bytes + at, wanted))
            continue;
        for (size_t i = at; i < end; i++)
            if (may_be_mark(bytes + i, size - i, wanted, ratio))
                return i;
    }
    return size;
}

/* ---- packets ---- */

struct search {
    const struct perf_data *data;
    const struct trace_stream *stream;
    struct array turns; /* of the stream's processor */
    struct packet_time time;
    bool in_header; /* between PSB and PSBEND */
    struct wanted wanted;
    uint64_t ratio; /* of core and bus; 0: not known yet */
    struct frequency_changes frequency;
    struct array *marks;
};

static struct trace_mark mark_of(const struct search *search, enum trace_mark_kind kind,
                                 uint64_t value)
{
    return (struct trace_mark){
        .kind = kind,
        .time = clock_to_nanoseconds(&search->data->setup.clock, search->time.now),
        .tid = search->stream->tid,
        .cpu = search->stream->cpu,
        .value = value,
    };
}

static void add_value(struct search *search, uint64_t value)
{
    struct trace_mark mark = mark_of(search, TRACE_MARK_VALUE, value);
    if (mark.tid == UINT32_MAX)
        mark.tid = who_ran(&search->turns, mark.time.value);
    array_add_all(search->marks, &mark, 1);
}

static void take_ratio(struct search *search, uint64_t ratio)
{
    if (search->ratio == ratio)
        return;
    search->ratio = ratio;
    const struct trace_mark mark = mark_of(search, TRACE_MARK_FREQUENCY, ratio * MHZ_PER_RATIO);
    frequency_changes_note(&search->frequency, &mark, search->marks);
}

static void add_sleep(struct search *search, uint64_t state)
{
    const struct trace_mark mark = mark_of(search, TRACE_MARK_SLEEP, state);
    array_add_all(search->marks, &mark, 1);
}

static void take_packet(struct search *search, const struct pt_packet *packet)
{
    struct packet_time *time = &search->time;
    switch ((enum pt_packet_kind)packet->kind) {
    case PT_PACKET_PSB:
        search->in_header = true;
        packet_time_forget_cycles(time);
        break;
    case PT_PACKET_PSBEND:
        search->in_header = false;
        break;
    case PT_PACKET_TSC:
        if (search->in_header)
            packet_time_restart(time, packet->payload);
        else
            packet_time_take(time, packet);
        break;
    case PT_PACKET_CBR:
        packet_time_take(time, packet);
        take_ratio(search, packet->payload);
        break;
    case PT_PACKET_OVF:
        search->in_header = false;
        packet_time_overflow(time);
        break;
    case PT_PACKET_PTWRITE:
        if (search->wanted.values)
            add_value(search, packet->payload);
        break;
    case PT_PACKET_PWRE:
        if (search->wanted.sleep)
            add_sleep(search, packet->payload >> 12 & 15); /* resolved thread C-state */
        break;
    case PT_PACKET_PWRX:
        if (search->wanted.sleep)
            add_sleep(search, 0);
        break;
    default:
        packet_time_take(time, packet);
        break;
    }
}

/* Searches from a PSB to the next one, where time restarts. */
static void search_part(struct search *search, const uint8_t *bytes, size_t size)
{
    struct pt_packet_walk walk = {.bytes = bytes, .size = size};
    struct pt_walked_packet walked;
    packet_time_init(&search->time, &search->data->setup);
    while (pt_packet_walk_next(&walk, &walked) && walked.status == PT_PACKET_OK)
        take_packet(search, &walked.packet);
}

/* The last PSB before `place`; searches from the one at `psb` on. */
static size_t last_psb(const uint8_t *bytes, size_t size, size_t psb, size_t place)
{
    size_t next;
    while ((next = pt_packet_find_psb(bytes, size, psb + 1)) < place)
        psb = next;
    return psb;
}

static void search_segment(struct search *search, const struct trace_segment *segment)
{
    uint8_t *copy;
    const uint8_t *bytes = trace_segment_bytes(segment, &copy);
    size_t size = segment->size, next;
    for (size_t at = pt_packet_find_psb(bytes, size, 0); at < size; at = next) {
        if (search->ratio) {
            size_t place = find_mark(bytes, size, at, search->wanted, search->ratio);
            if (place == size)
                break;
            at = last_psb(bytes, size, at, place);
        }
        next = pt_packet_find_psb(bytes, size, at + 1);
        search_part(search, bytes + at, next - at);
    }
    free(copy);
}

static void search_stream(struct search *search)
{
    bool of_processor = search->stream->tid == UINT32_MAX;
    search->turns =
        of_processor ? turns_of(search->data, search->stream->cpu) : array_of(sizeof(struct turn));
    for (size_t i = 0; i < search->stream->segments.count; i++)
        search_segment(search, trace_segment_at(search->stream, i));
    array_free(&search->turns);
}

void trace_marks_find(struct array *marks, const struct perf_data *data,
                      const struct trace_streams *streams)
{
    if (!data->setup.has_clock)
        return;
    for (size_t i = 0; i < streams->streams.count; i++) {
        struct search search = {
            .data = data,
            .stream = trace_stream_at(streams, i),
            .wanted = {data->setup.config & WRITES_VALUES, data->setup.config & REPORTS_SLEEP},
            .marks = marks,
        };
        search_stream(&search);
    }
}
