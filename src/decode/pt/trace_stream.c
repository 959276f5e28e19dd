#include "decode/pt/trace_stream.h"

#include "base/memory.h"
#include "packet/packet_decoder.h"

#include <linux/perf_event.h>
#include <string.h>

/* Where the kernel says that packets of a ring were lost: after the data of a PERF_RECORD_AUX with
 * the flag TRUNCATED. */
struct loss {
    uint32_t tid, cpu;
    uint64_t position; /* in the ring */
};

static struct array find_losses(const struct perf_data *data)
{
    struct array losses = array_of(sizeof(struct loss));
    for (size_t i = 0; i < data->record_count; i++) {
        const struct sideband_record *record = &data->records[i];
        /* In a ring that is overwritten, positions are modulo its size, and the packets themselves
         * show losses. */
        if (record->kind != SIDEBAND_AUX || !(record->aux.flags & PERF_AUX_FLAG_TRUNCATED) ||
            record->aux.flags & PERF_AUX_FLAG_OVERWRITE)
            continue;
        struct loss *loss = array_add(&losses);
        *loss = (struct loss){record->tid, record->cpu, record->aux.offset + record->aux.size};
    }
    return losses;
}

static struct trace_stream *find_stream(struct trace_streams *streams,
                                        const struct aux_chunk *chunk)
{
    /* From the end: chunks of one ring usually follow each other. */
    for (size_t i = streams->streams.count; i-- > 0;) {
        struct trace_stream *stream = trace_stream_at(streams, i);
        if (chunk->tid != UINT32_MAX ? stream->tid == chunk->tid
                                     : stream->tid == UINT32_MAX && stream->cpu == chunk->cpu)
            return stream;
    }
    struct trace_stream *stream = array_add(&streams->streams);
    stream->tid = chunk->tid;
    stream->cpu = chunk->tid == UINT32_MAX ? chunk->cpu : UINT32_MAX;
    stream->segments = array_of(sizeof(struct trace_segment));
    return stream;
}

static struct trace_segment *newest_segment(struct trace_stream *stream)
{
    size_t count = stream->segments.count;
    return count ? trace_segment_at(stream, count - 1) : NULL;
}

/* `follows`: no packet is missing between the newest trace segment and this part. */
static void add_part(struct trace_stream *stream, uint32_t ring, uint64_t offset,
                     const uint8_t *bytes, uint64_t size, bool follows)
{
    struct trace_segment *segment = newest_segment(stream);
    if (!segment || segment->ring != ring || !follows || segment->lost_after) {
        if (segment && segment->ring == ring)
            segment->lost_after = true;
        segment = array_add(&stream->segments);
        segment->parts = array_of(sizeof(struct trace_part));
        segment->ring = ring;
    }
    struct trace_part *part = array_add(&segment->parts);
    *part = (struct trace_part){bytes, size};
    segment->size += size;
    segment->end = offset + size;
    stream->size += size;
}

/* The first loss after `start` and not after `end` of the ring; `end` + 1 if there is none. */
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

/* ---- snapshots ---- */

static bool continues_earlier_ring(struct trace_stream *stream, const struct aux_chunk *chunk)
{
    const struct trace_segment *newest = newest_segment(stream);
    return newest && newest->ring == chunk->index;
}

/* The bytes that were added last: those of one chunk, or its end. */
static const struct trace_part *newest_part(struct trace_stream *stream)
{
    const struct trace_segment *newest = newest_segment(stream);
    return array_at(&newest->parts, newest->parts.count - 1);
}

/* Whether the last `size` bytes of `part`, or all if it has fewer, are the end of the first `size`
 * bytes of `bytes`. */
static bool ends_alike(const struct trace_part *part, const uint8_t *bytes, uint64_t size)
{
    uint64_t compared = part->size < size ? part->size : size;
    return memcmp(part->bytes + part->size - compared, bytes + size - compared, compared) == 0;
}

/* How many of `size` bytes are equal from the beginning on, in multiples of BLOCK. */
static uint64_t count_alike(const uint8_t *left, const uint8_t *right, uint64_t size)
{
    enum { BLOCK = 256 };
    uint64_t done = 0;
    while (done < size) {
        uint64_t step = size - done < BLOCK ? size - done : BLOCK;
        if (memcmp(left + done, right + done, step) != 0)
            break;
        done += step;
    }
    return done;
}

/* How many bytes of `chunk` repeat the end of `part`, found by comparing the packets: from the
 * chunk's first PSB on, all that follows one of the PSBs of `part`. 0: none, or too many packets
 * are alike (without time, say) to decide. */
static uint64_t find_repeated(const struct trace_part *part, const struct aux_chunk *chunk)
{
    enum { PATIENCE = 16 }; /* bytes compared per byte of the chunk */
    uint64_t first = pt_packet_find_psb(chunk->bytes, chunk->size, 0);
    uint64_t budget = chunk->size * PATIENCE;
    for (uint64_t at = pt_packet_find_psb(part->bytes, part->size, 0); at < part->size;
         at = pt_packet_find_psb(part->bytes, part->size, at + 1)) {
        uint64_t left = part->size - at;
        if (left > chunk->size - first)
            continue;
        uint64_t alike = count_alike(part->bytes + at, chunk->bytes + first, left);
        if (alike == left)
            return first + left;
        if (alike > budget)
            break;
        budget -= alike;
    }
    return 0;
}

/* Chunks are filled up with PAD packets to a multiple of 8 bytes, which the ring does not hold and
 * its offsets do not count (auxtrace_mmap__read() in tools/perf/util/auxtrace.c). Returns how many
 * of the last bytes may be such padding. */
static uint64_t count_padding(const struct trace_part *part)
{
    enum { MOST = 7 };
    uint64_t count = 0;
    while (count < MOST && count < part->size && part->bytes[part->size - 1 - count] == 0)
        count++;
    return count;
}

/* Computes `*repeated` from the offsets, if they count from the ring's beginning and the newest
 * trace segment ends at `end`. False: the offsets do not fit. */
static bool report_repeated(const struct trace_part *part, uint64_t end,
                            const struct aux_chunk *chunk, uint64_t *repeated)
{
    if (end < chunk->offset || end - chunk->offset > chunk->size)
        return false;
    *repeated = end - chunk->offset;
    return *repeated == 0 || ends_alike(part, chunk->bytes, *repeated);
}

/* Successive snapshots of one ring repeat the bytes that both hold. The offsets say how many, if
 * they count from the ring's beginning; those of perf record -S do not once the ring has wrapped
 * (intel_pt_find_snapshot in tools/perf/arch/x86/util/intel-pt.c). Returns how many bytes of
 * `chunk` were added already; *follows: nothing is missing before the others. */
static uint64_t count_repeated(struct trace_stream *stream, const struct aux_chunk *chunk,
                               bool *follows)
{
    *follows = false;
    if (!continues_earlier_ring(stream, chunk))
        return 0;
    uint64_t end = newest_segment(stream)->end, repeated;
    struct trace_part part = *newest_part(stream);
    for (uint64_t padding = count_padding(&part) + 1; padding-- > 0; part.size--, end--) {
        *follows = report_repeated(&part, end, chunk, &repeated);
        if (*follows)
            return repeated;
    }
    if (newest_segment(stream)->end <= chunk->offset)
        return 0;
    repeated = find_repeated(newest_part(stream), chunk);
    *follows = repeated > 0;
    return repeated;
}

/* ---- chunks ---- */

static void add_chunk(struct trace_streams *streams, const struct array *losses,
                      const struct aux_chunk *chunk)
{
    struct trace_stream *stream = find_stream(streams, chunk);
    bool follows;
    uint64_t start = chunk->offset + count_repeated(stream, chunk, &follows);
    uint64_t end = chunk->offset + chunk->size;
    while (start < end) {
        uint64_t loss = next_loss(losses, stream, start, end);
        uint64_t stop = loss < end ? loss : end;
        add_part(stream, chunk->index, start, chunk->bytes + (start - chunk->offset), stop - start,
                 follows);
        if (loss <= end)
            newest_segment(stream)->lost_after = true;
        start = stop;
        follows = true;
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
        for (size_t j = 0; j < stream->segments.count; j++)
            array_free(&trace_segment_at(stream, j)->parts);
        array_free(&stream->segments);
    }
    array_free(&streams->streams);
}

const uint8_t *trace_segment_bytes(const struct trace_segment *segment, uint8_t **copy)
{
    const struct trace_part *parts = segment->parts.elements;
    *copy = NULL;
    if (segment->parts.count == 1)
        return parts[0].bytes;
    uint8_t *next = *copy = memory_allocate(segment->size);
    for (size_t i = 0; i < segment->parts.count; i++) {
        memcpy(next, parts[i].bytes, parts[i].size);
        next += parts[i].size;
    }
    return *copy;
}
