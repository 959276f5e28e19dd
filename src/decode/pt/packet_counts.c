#include "decode/pt/packet_counts.h"

#include "decode/pt/trace_stream.h"
#include "packet/packet_walk.h"

#include <stdlib.h>

static void count_segment(struct packet_counts *counts, const struct trace_segment *segment)
{
    uint8_t *copy;
    struct pt_packet_walk walk = {.bytes = trace_segment_bytes(segment, &copy),
                                  .size = segment->size};
    struct pt_walked_packet walked;
    while (pt_packet_walk_next(&walk, &walked)) {
        if (walked.status == PT_PACKET_OK)
            counts->kinds[walked.packet.kind]++;
        else
            counts->stray_bytes++;
    }
    free(copy);
}

struct packet_counts packet_counts_of(const struct perf_data *data)
{
    struct packet_counts counts = {0};
    struct trace_streams streams;
    trace_streams_cut(&streams, data);
    for (size_t i = 0; i < streams.streams.count; i++) {
        const struct trace_stream *stream = trace_stream_at(&streams, i);
        for (size_t j = 0; j < stream->segments.count; j++)
            count_segment(&counts, trace_segment_at(stream, j));
    }
    trace_streams_free(&streams);
    return counts;
}
