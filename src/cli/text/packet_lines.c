#include "cli/text/packet_lines.h"

#include "decode/pt/trace_stream.h"
#include "packet/packet_text.h"
#include "packet/packet_walk.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_segment(const struct trace_stream *stream, const struct trace_segment *segment,
                          FILE *out)
{
    uint8_t *copy;
    struct pt_packet_walk walk = {.bytes = trace_segment_bytes(segment, &copy),
                                  .size = segment->size};
    bool of_thread = stream->tid != UINT32_MAX;
    const char *kind = of_thread ? "tid" : "cpu";
    uint32_t id = of_thread ? stream->tid : stream->cpu;
    uint64_t start = segment->end - segment->size;
    struct pt_walked_packet walked;
    while (pt_packet_walk_next(&walk, &walked)) {
        char text[PT_PACKET_TEXT_SIZE];
        fprintf(out, "%s %" PRIu32 " %08" PRIx64 " %s\n", kind, id, start + walked.offset,
                walked.status == PT_PACKET_OK ? pt_packet_text(text, &walked.packet)
                                              : PT_NO_PACKET_TEXT);
    }
    free(copy);
}

void packet_lines_print(const struct perf_data *data, FILE *stream)
{
    struct trace_streams streams;
    trace_streams_cut(&streams, data);
    for (size_t i = 0; i < streams.streams.count; i++) {
        const struct trace_stream *ring = trace_stream_at(&streams, i);
        for (size_t j = 0; j < ring->segments.count && !ferror(stream); j++)
            print_segment(ring, trace_segment_at(ring, j), stream);
    }
    trace_streams_free(&streams);
}
