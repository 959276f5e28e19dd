#include "flow/trace_stream.h"

#include "base/memory.h"

#include <linux/perf_event.h>
#include <string.h>

/* Where the kernel says that packets of a ring were lost: behind what a PERF_RECORD_AUX with this
 * flag tells of. */
struct loss {
    uint32_t tid, cpu;
    uint64_t position; /* in the ring */
};

static struct array find_losses(const struct perf_data *data)
{
    struct array losses = array_of(sizeof(struct loss));
    for (size_t i = 0; i < data->record_count; i++) {
        const struct side_band_record *record = &data->records[i];
        if (record->kind != SIDE_BAND_AUX || !(record->aux.flags & PERF_AUX_FLAG_TRUNCATED))
            continue;
        struct loss *loss = array_add(&losses);
        *loss = (struct loss){record->tid, record->cpu, record->aux.offset + record->aux.size};
    }
    return losses;
}

static struct trace_stream *find_stream(struct trace_streams *streams,
                                        const struct aux_chunk *chunk)
{
    /* From the end: chunks of one ring follow each other. */
    for (size_t i = streams->streams.count; i-- > 0;) {
        struct trace_stream *stream = trace_stream_at(streams, i);
        if (chunk->tid != UINT32_MAX ? stream->tid == chunk->tid
                                     : stream->tid == UINT32_MAX && stream->cpu == chunk->cpu)
            return stream;
    }
    struct trace_stream *stream = array_add(&streams->streams);
    stream->tid = chunk->tid;
    stream->cpu = chunk->tid == UINT32_MAX ? chunk->cpu : UINT32_MAX;
    stream->stretches = array_of(sizeof(struct trace_stretch));
    return stream;
}

static struct trace_stretch *newest_stretch(struct trace_stream *stream)
{
    size_t count = stream->stretches.count;
    return count ? trace_stretch_at(stream, count - 1) : NULL;
}

static void add_piece(struct trace_stream *stream, uint32_t ring, uint64_t offset,
                      const uint8_t *bytes, uint64_t size)
{
    struct trace_stretch *stretch = newest_stretch(stream);
    if (!stretch || stretch->ring != ring || stretch->end != offset || stretch->lost_after) {
        if (stretch && stretch->ring == ring)
            stretch->lost_after = true;
        stretch = array_add(&stream->stretches);
        stretch->pieces = array_of(sizeof(struct trace_piece));
        stretch->ring = ring;
    }
    struct trace_piece *piece = array_add(&stretch->pieces);
    *piece = (struct trace_piece){bytes, size};
    stretch->size += size;
    stretch->end = offset + size;
    stream->size += size;
}

/* The first loss behind `start` and not behind `end` of the ring; `end` + 1 when there is none. */
static uint64_t next_loss(const struct array *losses, const struct trace_stream *stream,
                          uint64_t start, uint64_t end)
{
    uint64_t first = end + 1;
    for (size_t i = 0; i < losses->count; i++) {
        const struct loss *loss = array_at(losses, i);
        bool mine = stream->tid != UINT32_MAX ? loss->tid == stream->tid : loss->cpu == stream->cpu;
        if (mine && loss->position > start && loss->position < first)
            first = loss->position;
    }
    return first;
}

static bool continues_earlier_ring(struct trace_stream *stream, const struct aux_chunk *chunk)
{
    const struct trace_stretch *newest = newest_stretch(stream);
    return newest && newest->ring == chunk->index;
}

static void add_chunk(struct trace_streams *streams, const struct array *losses,
                      const struct aux_chunk *chunk)
{
    struct trace_stream *stream = find_stream(streams, chunk);
    uint64_t start = chunk->offset, end = chunk->offset + chunk->size;
    /* Snapshots taken one after the other from one ring repeat what both hold. */
    if (continues_earlier_ring(stream, chunk) && newest_stretch(stream)->end > start)
        start = newest_stretch(stream)->end;
    while (start < end) {
        uint64_t loss = next_loss(losses, stream, start, end);
        uint64_t stop = loss < end ? loss : end;
        add_piece(stream, chunk->index, start, chunk->bytes + (start - chunk->offset),
                  stop - start);
        if (loss <= end)
            newest_stretch(stream)->lost_after = true;
        start = stop;
    }
}

void trace_streams_cut(struct trace_streams *streams, const struct perf_data *data)
{
    streams->streams = array_of(sizeof(struct trace_stream));
    struct array losses = find_losses(data);
    for (size_t i = 0; i < data->chunk_count; i++) {
        const struct aux_chunk *chunk = &data->chunks[i];
        if (chunk->size && chunk->offset <= UINT64_MAX - chunk->size - 1)
            add_chunk(streams, &losses, chunk);
    }
    array_free(&losses);
}

void trace_streams_free(struct trace_streams *streams)
{
    for (size_t i = 0; i < streams->streams.count; i++) {
        struct trace_stream *stream = trace_stream_at(streams, i);
        for (size_t j = 0; j < stream->stretches.count; j++)
            array_free(&trace_stretch_at(stream, j)->pieces);
        array_free(&stream->stretches);
    }
    array_free(&streams->streams);
}

const uint8_t *trace_stretch_bytes(const struct trace_stretch *stretch, uint8_t **copy)
{
    const struct trace_piece *pieces = stretch->pieces.elements;
    *copy = NULL;
    if (stretch->pieces.count == 1)
        return pieces[0].bytes;
    uint8_t *next = *copy = memory_allocate(stretch->size);
    for (size_t i = 0; i < stretch->pieces.count; i++) {
        memcpy(next, pieces[i].bytes, pieces[i].size);
        next += pieces[i].size;
    }
    return *copy;
}
