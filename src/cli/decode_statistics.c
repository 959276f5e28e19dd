#include "cli/decode_statistics.h"

#include "flow/packet_counts.h"

#include <jansson.h>

static void set_count(json_t *object, const char *key, uint64_t count)
{
    json_object_set_new(object, key, json_integer((json_int_t)count));
}

static json_t *packets_to_json(const struct packet_counts *counts)
{
    json_t *object = json_object();
    for (int kind = 0; kind < PT_PACKET_KINDS; kind++)
        if (counts->kinds[kind] > 0)
            set_count(object, pt_packet_name(kind), counts->kinds[kind]);
    return object;
}

static void set_packets(json_t *object, const struct perf_data *data)
{
    const struct packet_counts counts = packet_counts_of(data);
    json_object_set_new(object, "packets", packets_to_json(&counts));
    set_count(object, "stray_bytes", counts.stray_bytes);
}

static void set_decoding(json_t *object, const struct flow_statistics *flow)
{
    set_count(object, "bytes", flow->bytes);
    set_count(object, "instructions", flow->instructions);
    set_count(object, "flow_events", flow->events);
    set_count(object, "error_count", flow->errors);
    set_count(object, "overflows", flow->overflows);
}

static void set_text(json_t *object, const struct flow_statistics *flow)
{
    set_count(object, "text_lines", flow->text_lines);
    set_count(object, "text_branches", flow->text.branches);
    set_count(object, "text_samples", flow->text.samples);
    set_count(object, "text_unreadable_lines", flow->text.unreadable);
}

static void set_stacks(json_t *object, const struct timeline_statistics *statistics)
{
    set_count(object, "threads", statistics->threads);
    set_count(object, "calls", statistics->spans);
    set_count(object, "gaps", statistics->gaps);
    set_count(object, "unwound", statistics->unwound);
    set_count(object, "repaired", statistics->repaired);
}

void decode_statistics_print(const struct timeline *timeline, FILE *stream)
{
    const struct timeline_statistics statistics = timeline_statistics(timeline);
    json_t *object = json_object();
    set_decoding(object, &statistics.flow);
    if (statistics.flow.text_lines > 0)
        set_text(object, &statistics.flow);
    else
        set_packets(object, flow_perf_data(timeline_flow(timeline)));
    set_stacks(object, &statistics);
    json_dumpf(object, stream, JSON_INDENT(2));
    fputc('\n', stream);
    json_decref(object);
}
