#include "flow/written_values.h"

#include "flow/packet_time.h"
#include "flow/trace_stream.h"
#include "packet/packet_walk.h"

#include <stdlib.h>

/* attr.config is IA32_RTIT_CTL, as far as it can be asked for. */
enum { WRITES_VALUES = 1 << 12 };

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
        const struct side_band_record *record = &data->records[i];
        if (record->cpu != cpu ||
            (record->kind != SIDE_BAND_TRACE_START && record->kind != SIDE_BAND_CONTEXT_SWITCH))
            continue;
        bool leaves = record->kind == SIDE_BAND_CONTEXT_SWITCH && record->context_switch.out;
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

/* ---- packets ---- */

struct search {
    const struct perf_data *data;
    const struct trace_stream *stream;
    struct array turns; /* of the stream's processor */
    struct packet_time time;
    bool in_header; /* between PSB and PSBEND */
    struct array *values;
};

static void take_value(struct search *search, const struct pt_packet *packet)
{
    struct nanoseconds time = clock_to_nanoseconds(&search->data->setup.clock, search->time.now);
    *(struct written_value *)array_add(search->values) = (struct written_value){
        .time = time,
        .tid = search->stream->tid != UINT32_MAX ? search->stream->tid
                                                 : who_ran(&search->turns, time.value),
        .value = packet->payload,
    };
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
            packet_time_tsc(time, packet->payload);
        break;
    case PT_PACKET_TMA:
        packet_time_tma(time, packet->payload, packet->second);
        break;
    case PT_PACKET_MTC:
        packet_time_mtc(time, packet->payload);
        break;
    case PT_PACKET_CBR:
        packet_time_cbr(time, packet->payload);
        break;
    case PT_PACKET_CYC:
        packet_time_cyc(time, packet->payload);
        break;
    case PT_PACKET_OVF:
        search->in_header = false;
        packet_time_overflow(time);
        break;
    case PT_PACKET_PTWRITE:
        take_value(search, packet);
        break;
    default:
        break;
    }
}

static void search_stretch(struct search *search, const struct trace_stretch *stretch)
{
    uint8_t *copy;
    const uint8_t *bytes = trace_stretch_bytes(stretch, &copy);
    struct pt_packet_walk walk = {
        .bytes = bytes,
        .size = stretch->size,
        .next = pt_packet_find_psb(bytes, stretch->size, 0),
    };
    struct pt_walked_packet walked;
    packet_time_init(&search->time, &search->data->setup);
    while (pt_packet_walk_next(&walk, &walked)) {
        if (walked.status == PT_PACKET_OK) {
            take_packet(search, &walked.packet);
            continue;
        }
        walk.next = pt_packet_find_psb(bytes, stretch->size, walk.next);
        walk.item_size = 0;
    }
    free(copy);
}

static void search_stream(struct search *search)
{
    bool of_processor = search->stream->tid == UINT32_MAX;
    search->turns =
        of_processor ? turns_of(search->data, search->stream->cpu) : array_of(sizeof(struct turn));
    for (size_t i = 0; i < search->stream->stretches.count; i++)
        search_stretch(search, trace_stretch_at(search->stream, i));
    array_free(&search->turns);
}

void written_values_find(struct array *values, const struct perf_data *data)
{
    if (!(data->setup.config & WRITES_VALUES) || !data->setup.has_clock)
        return;
    struct trace_streams streams;
    trace_streams_cut(&streams, data);
    for (size_t i = 0; i < streams.streams.count; i++) {
        struct search search = {
            .data = data, .stream = trace_stream_at(&streams, i), .values = values};
        search_stream(&search);
    }
    trace_streams_free(&streams);
}
