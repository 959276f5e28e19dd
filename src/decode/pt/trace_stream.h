/* The packets of a recording, cut into streams: one per thread, or one per processor.
 *
 * A stream is a list of trace segments. Within a trace segment no packet is missing, although its
 * bytes may be in several AUX chunks of the file; between two of them packets were lost, or another
 * ring began (a thread that called execve gets a new one). Made by the driver once, before
 * decoding.
 */
#ifndef MAGIC_TRACE_DECODE_PT_TRACE_STREAM_H
#define MAGIC_TRACE_DECODE_PT_TRACE_STREAM_H

#include "base/array.h"
#include "recording/perf_data/perf_data_reader.h"

struct trace_part {
    const uint8_t *bytes; /* borrowed from perf_data */
    uint64_t size;
};

struct trace_segment {
    struct array parts; /* struct trace_part */
    uint64_t size;      /* of all parts */
    uint64_t end;       /* offset in the ring after the last byte */
    uint32_t ring;      /* index of the ring */
    bool lost_after;
};

struct trace_stream {
    uint32_t tid; /* UINT32_MAX: of a processor */
    uint32_t cpu; /* UINT32_MAX: of a thread */
    uint64_t size;
    struct array segments; /* struct trace_segment */
};

struct trace_streams {
    struct array streams; /* struct trace_stream, in the order of their first chunk */
};

void trace_streams_cut(struct trace_streams *streams, const struct perf_data *data);
void trace_streams_free(struct trace_streams *streams);

/* The bytes of a trace segment, contiguous. The caller frees `*copy`; it is NULL if they did not
 * have to be copied. */
const uint8_t *trace_segment_bytes(const struct trace_segment *segment, uint8_t **copy);

static inline struct trace_stream *trace_stream_at(const struct trace_streams *streams,
                                                   size_t index)
{
    return array_at(&streams->streams, index);
}

static inline struct trace_segment *trace_segment_at(const struct trace_stream *stream,
                                                     size_t index)
{
    return array_at(&stream->segments, index);
}

#endif
