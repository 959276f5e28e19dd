/* Calls by their numbers (call_ordinal.h) in random traces, and what is read to find them. */
#include "base/file.h"
#include "index/call_buckets.h"
#include "index/call_ordinal.h"
#include "index/file/bucket_codec.h"
#include "index_test.h"
#include "span_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { TRACES = 300 };

static const struct index_tracks ALL = {0};

/* ---- numbers ---- */

static int compare_places(const void *a, const void *b)
{
    return call_place_compare(a, b);
}

/* Appends the calls of the name (struct call_place), in their order. */
static void gather_calls(const struct indexed_trace *indexed, uint32_t name, struct array *calls)
{
    for (size_t i = 0; i < indexed->trace->spans.count; i++) {
        const struct made_span *span = made_trace_span(indexed->trace, i);
        if (span->name == name && !trace_index_track(indexed->index, span->track).is_hits)
            *(struct call_place *)array_add(calls) = (struct call_place){
                span->track, {.start = span->start, .end = span->end, .depth = span->depth}};
    }
    if (calls->count > 1)
        qsort(calls->elements, calls->count, calls->element_size, compare_places);
}

/* Of calls at the same place, whose order is open, the last one's number. */
static uint64_t number_of(const struct array *calls, size_t i)
{
    while (i + 1 < calls->count && compare_places(array_at(calls, i), array_at(calls, i + 1)) == 0)
        i++;
    return i + 1;
}

static void check_numbers(const struct indexed_trace *indexed, uint32_t name)
{
    const struct trace_index *index = indexed->index;
    struct array calls = array_of(sizeof(struct call_place));
    struct call_place call;
    struct error error = {0};
    uint64_t ordinal;
    uint32_t group = indexed->groups[name];
    gather_calls(indexed, name, &calls);
    for (size_t i = 0; i < calls.count; i++) {
        assert_true(index_nth_call(index, group, i + 1, &call, &error));
        assert_int_equal(compare_places(&call, array_at(&calls, i)), 0);
        assert_true(index_call_ordinal(index, ALL, group, &call, &ordinal, &error));
        assert_int_equal(ordinal, number_of(&calls, i));
    }
    assert_false(index_nth_call(index, group, calls.count + 1, &call, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_false(index_nth_call(index, group, 0, &call, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    array_free(&calls);
}

static void every_call_has_its_number(void **state)
{
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        struct indexed_trace indexed = indexed_trace_new(seed);
        for (uint32_t name = 0; name < MADE_NAMES; name++)
            if (indexed.groups[name] != UINT32_MAX)
                check_numbers(&indexed, name);
        indexed_trace_free(&indexed);
    }
}

/* ---- what is read ---- */

enum { CALLS = 3000, BUCKET = 100 };

/* Calls of f, one after the other, each of which calls g; the index has 30 spans in each chunk. */
static uint8_t *index_bytes_of_calls(size_t *size)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "p", "t");
    for (uint64_t i = 0; i < CALLS; i++) {
        span_script_enter(script, track, 10 * i, "f");
        span_script_enter(script, track, 10 * i + 2, "g");
        span_script_leave(script, track, 10 * i + 4);
        span_script_leave(script, track, 10 * i + 6);
    }
    const struct index_layout layout = {
        .chunk_items = 30, .level_ratio = 4, .level_enough = 30, .bucket_calls = BUCKET};
    char path[] = "/tmp/magic-trace-index-ordinal.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    struct error error = {0};
    assert_true(index_build_as(span_script_source(script), path, 1, &layout, &error));
    char *bytes = file_read(path, size, &error);
    assert_non_null(bytes);
    unlink(path);
    span_script_free(script);
    return (uint8_t *)bytes;
}

static struct trace_index *open_bytes(const uint8_t *bytes, size_t size)
{
    int descriptor = memfd_create("index", MFD_CLOEXEC);
    struct error error = {0};
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    assert_int_equal(write(descriptor, bytes, size), size);
    struct trace_index *index = trace_index_open(path, &error);
    close(descriptor);
    if (!index)
        fail_msg("%s", error.text);
    return index;
}

/* The chunks that are before a call's bucket are damaged: whoever reads them notices. */
static void a_late_call_is_found_without_what_is_before_it(void **state)
{
    size_t size;
    uint8_t *bytes = index_bytes_of_calls(&size);
    struct index_header header;
    memcpy(&header, bytes, sizeof header);
    const struct index_chunk *chunks = (void *)(bytes + header.sections[SECTION_CHUNKS].offset);
    uint8_t *chunk_bytes = bytes + header.sections[SECTION_CHUNK_BYTES].offset;
    for (size_t i = 0; chunks[i].last_end < UINT64_C(10) * (CALLS - BUCKET); i++)
        memset(chunk_bytes + chunks[i].offset, 0xff, chunks[i].size);
    struct trace_index *index = open_bytes(bytes, size);
    struct call_place call;
    struct error error = {0};
    uint64_t ordinal;
    uint32_t f = trace_index_function(index, 0).group;
    assert_false(index_nth_call(index, f, 500, &call, &error)); /* the damage is real */
    assert_int_equal(error.code, ERROR_FORMAT);
    error = (struct error){0};
    if (!index_nth_call(index, f, CALLS - 3, &call, &error))
        fail_msg("%s", error.text);
    assert_int_equal(call.span.start, 10 * (CALLS - 4));
    if (!index_call_ordinal(index, ALL, f, &call, &ordinal, &error))
        fail_msg("%s", error.text);
    assert_int_equal(ordinal, CALLS - 3);
    trace_index_close(index);
    free(bytes);
}

/* ---- buckets ---- */

/* Calls that begin at the same moment are in one bucket, however many they are. */
static void a_moment_is_in_one_bucket(void **state)
{
    struct span_script *script = span_script_new();
    uint32_t track = span_script_track(script, 1, 1, "p", "t");
    enum { AT_ONCE = 50 };
    for (int i = 0; i < AT_ONCE; i++) {
        span_script_enter(script, track, 100, "f");
        span_script_leave(script, track, 100);
    }
    span_script_enter(script, track, 101, "f");
    span_script_leave(script, track, 102);
    const struct index_layout layout = {
        .chunk_items = 7, .level_ratio = 4, .level_enough = 30, .bucket_calls = 3};
    char path[] = "/tmp/magic-trace-index-ordinal.XXXXXX";
    close(mkstemp(path));
    struct error error = {0};
    assert_true(index_build_as(span_script_source(script), path, 1, &layout, &error));
    struct trace_index *index = trace_index_open(path, &error);
    unlink(path);
    struct call_bucket bucket;
    uint32_t f = trace_index_function(index, 0).group;
    assert_true(call_bucket_of_ordinal(index, f, AT_ONCE, &bucket, &error));
    assert_int_equal(bucket.before, 0);
    assert_int_equal(bucket.range.from, 0);
    assert_int_equal(bucket.range.to, 1); /* the trace's first event is at 100 */
    assert_true(call_bucket_of_ordinal(index, f, AT_ONCE + 1, &bucket, &error));
    assert_int_equal(bucket.before, AT_ONCE);
    assert_int_equal(bucket.range.from, 1);
    assert_int_equal(bucket.range.to, 3);
    struct call_bucket same;
    assert_true(call_bucket_at(index, f, 2, &same, &error));
    assert_memory_equal(&same, &bucket, sizeof same);
    struct call_place call;
    assert_true(index_nth_call(index, f, AT_ONCE + 1, &call, &error));
    assert_int_equal(call.span.start, 1);
    trace_index_close(index);
    span_script_free(script);
}

/* A track whose first calls looked like a thread's: the questions are answered as ever. */
static void calls_before_hits_on_their_track(void **state)
{
    static const struct span_hit hit = {.pid = 1, .tid = 1};
    struct span_script *script = span_script_new();
    uint32_t thread = span_script_track(script, 1, 1, "p", "t");
    uint32_t mixed = span_script_track(script, 1, 2, "p", "hits");
    for (uint64_t i = 0; i < 10; i++) {
        span_script_enter(script, thread, 10 * i, "f");
        span_script_leave(script, thread, 10 * i + 3);
        struct span_event *event = span_script_enter(script, mixed, 10 * i + 5, "f");
        if (i > 4)
            event->hit = &hit;
        span_script_leave(script, mixed, 10 * i + 6);
    }
    struct trace_index *index = index_source(span_script_source(script));
    struct call_place call;
    struct error error = {0};
    uint64_t ordinal;
    uint32_t f = trace_index_function(index, 0).group;
    assert_true(trace_index_track(index, mixed).is_hits);
    assert_true(index_nth_call(index, f, 9, &call, &error));
    assert_int_equal(call.span.start, 80);
    assert_true(index_call_ordinal(index, ALL, f, &call, &ordinal, &error));
    assert_int_equal(ordinal, 9);
    trace_index_close(index);
    span_script_free(script);
}

static void counts_come_back(void **state)
{
    static const struct bucket_count counts[] = {
        {0, 1}, {1, 255}, {2, 256}, {258, UINT64_MAX}, {70000, 1 << 24}, {UINT32_MAX - 2, 3},
    };
    enum { COUNTS = sizeof counts / sizeof *counts };
    uint8_t bytes[COUNTS * BUCKET_COUNT_BYTES_MAX + INDEX_PADDING] = {0};
    uint8_t *end = bytes;
    struct bucket_count before = BUCKET_COUNT_BEFORE_FIRST;
    for (size_t i = 0; i < COUNTS; i++) {
        end = bucket_count_encode(end, &before, &counts[i]);
        before = counts[i];
    }
    struct bucket_count count = BUCKET_COUNT_BEFORE_FIRST;
    const uint8_t *next = bytes;
    for (size_t i = 0; i < COUNTS; i++) {
        next = bucket_count_decode(next, end, UINT32_MAX, &count);
        assert_non_null(next);
        assert_int_equal(count.function, counts[i].function);
        assert_int_equal(count.calls, counts[i].calls);
    }
    assert_ptr_equal(next, end);

    static const uint8_t same_again[16] = {0, 0, 1};
    count = BUCKET_COUNT_BEFORE_FIRST;
    assert_null(bucket_count_decode(same_again, same_again + 3, 10, &count));
    static const uint8_t no_such_function[16] = {0, 11, 1};
    count = BUCKET_COUNT_BEFORE_FIRST;
    assert_null(bucket_count_decode(no_such_function, no_such_function + 3, 10, &count));
    count = BUCKET_COUNT_BEFORE_FIRST;
    assert_null(bucket_count_decode(bytes, bytes + 2, 10, &count)); /* cut */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_has_its_number),
        cmocka_unit_test(a_late_call_is_found_without_what_is_before_it),
        cmocka_unit_test(a_moment_is_in_one_bucket),
        cmocka_unit_test(calls_before_hits_on_their_track),
        cmocka_unit_test(counts_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
