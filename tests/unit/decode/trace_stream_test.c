/* Chunks of packets are joined: bytes that several snapshots of one ring repeat are kept once. */
#include "decode/pt/trace_stream.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RING = 4096, STEP = 256, TOTAL = 64 * 1024 };

/* A long trace: a PSB and a number every 256 bytes, noise between. */
static uint8_t *make_trace(void)
{
    uint8_t *trace = memory_allocate(TOTAL);
    uint32_t noise = 12345;
    for (size_t i = 0; i < TOTAL; i++)
        trace[i] = (uint8_t)((noise = noise * 1664525 + 1013904223) >> 24) | 1;
    for (size_t i = 0; i < TOTAL; i += STEP)
        for (size_t j = 0; j < 16; j++)
            trace[i + j] = j % 2 ? 0x82 : 0x02;
    return trace;
}

struct cut {
    struct perf_data data;
    struct trace_streams streams;
    struct aux_chunk chunks[4];
};

/* The last bytes of `trace` up to `end`, said to be at `offset` of the ring. */
static void add_snapshot(struct cut *cut, const uint8_t *trace, uint64_t end, uint64_t offset)
{
    cut->chunks[cut->data.chunk_count++] = (struct aux_chunk){
        .tid = 7,
        .cpu = UINT32_MAX,
        .offset = offset,
        .bytes = trace + end - RING,
        .size = RING,
    };
}

static void cut_streams(struct cut *cut)
{
    cut->data.chunks = cut->chunks;
    trace_streams_cut(&cut->streams, &cut->data);
    assert_int_equal(cut->streams.streams.count, 1);
}

static void check_segment(const struct cut *cut, size_t index, const uint8_t *bytes, uint64_t size,
                          bool lost_after)
{
    const struct trace_segment *segment =
        trace_segment_at(trace_stream_at(&cut->streams, 0), index);
    assert_int_equal(segment->size, size);
    assert_int_equal(segment->lost_after, lost_after);
    uint8_t *copy;
    assert_memory_equal(trace_segment_bytes(segment, &copy), bytes, size);
    free(copy);
}

/* Offsets count from the ring's beginning. */
static void overlap_is_reported_by_offsets(void **state)
{
    uint8_t *trace = make_trace();
    struct cut cut = {0};
    add_snapshot(&cut, trace, RING, 0);
    add_snapshot(&cut, trace, RING + 1000, 1000);
    cut_streams(&cut);
    check_segment(&cut, 0, trace, RING + 1000, false);
    trace_streams_free(&cut.streams);
    free(trace);
}

/* perf record -S: of a ring that has wrapped, offsets are modulo its size. */
static void overlap_is_reported_by_the_packets(void **state)
{
    uint8_t *trace = make_trace();
    struct cut cut = {0};
    add_snapshot(&cut, trace, 20000, 20000 % RING);
    add_snapshot(&cut, trace, 21777, 21777 % RING);
    add_snapshot(&cut, trace, 24000, 24000 % RING);
    cut_streams(&cut);
    check_segment(&cut, 0, trace + 20000 - RING, RING + 4000, false);
    trace_streams_free(&cut.streams);
    free(trace);
}

static void what_was_overwritten_between_snapshots_is_lost(void **state)
{
    uint8_t *trace = make_trace();
    struct cut cut = {0};
    add_snapshot(&cut, trace, 20000, 20000 % RING);
    add_snapshot(&cut, trace, 50000, 50000 % RING);
    cut_streams(&cut);
    check_segment(&cut, 0, trace + 20000 - RING, RING, true);
    check_segment(&cut, 1, trace + 50000 - RING, RING, false);
    trace_streams_free(&cut.streams);
    free(trace);
}

static void a_snapshot_that_has_nothing_new_adds_nothing(void **state)
{
    uint8_t *trace = make_trace();
    struct cut cut = {0};
    add_snapshot(&cut, trace, 20000, 20000 % RING);
    add_snapshot(&cut, trace, 20000, 20000 % RING);
    cut_streams(&cut);
    check_segment(&cut, 0, trace + 20000 - RING, RING, false);
    trace_streams_free(&cut.streams);
    free(trace);
}

/* Whole packets up to `end` of a ring that has not wrapped, and PAD packets after them. */
static void add_padded(struct cut *cut, uint8_t *bytes, const uint8_t *trace, uint64_t offset,
                       uint64_t end)
{
    uint64_t size = (end - offset + 7) & ~(uint64_t)7;
    memset(bytes, 0, size);
    memcpy(bytes, trace + offset, end - offset);
    cut->chunks[cut->data.chunk_count++] = (struct aux_chunk){
        .tid = 7, .cpu = UINT32_MAX, .offset = offset, .bytes = bytes, .size = size};
}

/* Everything is kept, in chunks: none of it is lost. */
static void padding_between_chunks_is_no_loss(void **state)
{
    uint8_t *trace = make_trace(), parts[3][RING];
    struct cut cut = {0};
    add_padded(&cut, parts[0], trace, 0, 1003);
    add_padded(&cut, parts[1], trace, 1003, 1004);
    add_padded(&cut, parts[2], trace, 1004, 2004);
    cut_streams(&cut);
    const struct trace_stream *stream = trace_stream_at(&cut.streams, 0);
    assert_int_equal(stream->segments.count, 1);
    assert_int_equal(trace_segment_at(stream, 0)->size, 1008 + 8 + 1000);
    trace_streams_free(&cut.streams);
    free(trace);
}

static void padding_of_a_snapshot_does_not_hide_what_is_repeated(void **state)
{
    uint8_t *trace = make_trace(), parts[2][RING];
    struct cut cut = {0};
    add_padded(&cut, parts[0], trace, 0, 1001);
    add_padded(&cut, parts[1], trace, 0, 2000);
    cut_streams(&cut);
    const struct trace_stream *stream = trace_stream_at(&cut.streams, 0);
    assert_int_equal(stream->segments.count, 1);
    assert_int_equal(trace_segment_at(stream, 0)->size, 1008 + 999);
    trace_streams_free(&cut.streams);
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap_is_reported_by_offsets),
        cmocka_unit_test(overlap_is_reported_by_the_packets),
        cmocka_unit_test(what_was_overwritten_between_snapshots_is_lost),
        cmocka_unit_test(a_snapshot_that_has_nothing_new_adds_nothing),
        cmocka_unit_test(padding_between_chunks_is_no_loss),
        cmocka_unit_test(padding_of_a_snapshot_does_not_hide_what_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
