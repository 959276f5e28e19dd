/* Values that programs wrote by PTWRITE, changes of frequency, and sleep: when, and of which thread
 * or processor.
 */
#include "decode/trace_marks.h"

#include "packet/packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { WRITES_VALUES = 1 << 12, REPORTS_SLEEP = 1 << 4, SIZE = 1024 };

struct ring {
    uint8_t bytes[SIZE];
    size_t size;
};

static void add_header(struct ring *ring, uint64_t time)
{
    ring->size += pt_packet_psb(ring->bytes + ring->size);
    ring->size += pt_packet_tsc(ring->bytes + ring->size, time);
    ring->size += pt_packet_psbend(ring->bytes + ring->size);
}

static void add_value(struct ring *ring, uint64_t value)
{
    ring->size += pt_packet_ptwrite_at_ip(ring->bytes + ring->size, value);
    ring->size += pt_packet_ip_whole(ring->bytes + ring->size, PT_FUP, 0x401000);
}

static void add_time(struct ring *ring, uint64_t time)
{
    ring->size += pt_packet_tsc(ring->bytes + ring->size, time);
}

static struct perf_data data_of(struct aux_chunk *chunk, const struct ring *ring, uint32_t tid,
                                uint32_t cpu)
{
    *chunk = (struct aux_chunk){.tid = tid, .cpu = cpu, .bytes = ring->bytes, .size = ring->size};
    return (struct perf_data){
        .setup = {.config = WRITES_VALUES, .has_clock = true, .clock.mult = 1},
        .chunks = chunk,
        .chunk_count = 1,
    };
}

static struct array find(const struct perf_data *data)
{
    struct array values = array_of(sizeof(struct trace_mark));
    struct trace_streams streams;
    trace_streams_cut(&streams, data);
    trace_marks_find(&values, data, &streams);
    trace_streams_free(&streams);
    return values;
}

static void expect(const struct array *values, size_t index, uint64_t time, uint32_t tid,
                   uint64_t value)
{
    const struct trace_mark *found = array_at(values, index);
    assert_int_equal(found->time.value, time);
    assert_int_equal(found->tid, tid);
    assert_int_equal(found->value, value);
}

static void make(struct ring *ring)
{
    add_value(ring, 1); /* before the first PSB nothing can be read */
    add_header(ring, 1000);
    add_value(ring, 42);
    ring->bytes[ring->size++] = 0xff; /* bytes that are no packet are skipped up to the next PSB */
    add_value(ring, 2);
    add_header(ring, 2000);
    add_time(ring, 2500);
    add_value(ring, UINT64_MAX);
}

static void a_threads_values_have_their_times(void **state)
{
    struct ring ring = {0};
    make(&ring);
    struct aux_chunk chunk;
    const struct perf_data data = data_of(&chunk, &ring, 7, UINT32_MAX);
    struct array values = find(&data);
    assert_int_equal(values.count, 2);
    expect(&values, 0, 1000, 7, 42);
    expect(&values, 1, 2500, 7, UINT64_MAX);
    array_free(&values);
}

static void a_processors_values_belong_to_the_thread_that_ran(void **state)
{
    struct ring ring = {0};
    make(&ring);
    struct aux_chunk chunk;
    struct perf_data data = data_of(&chunk, &ring, UINT32_MAX, 3);
    struct sideband_record records[] = {
        {.kind = SIDEBAND_TRACE_START, .time = {900}, .tid = 8, .cpu = 3},
        {.kind = SIDEBAND_CONTEXT_SWITCH,
         .time = {1500},
         .tid = 8,
         .cpu = 3,
         .context_switch.out = true},
        {.kind = SIDEBAND_CONTEXT_SWITCH, .time = {2100}, .tid = 10, .cpu = 2},
        {.kind = SIDEBAND_CONTEXT_SWITCH, .time = {2200}, .tid = 9, .cpu = 3},
    };
    data.records = records;
    data.record_count = sizeof records / sizeof *records;
    struct array values = find(&data);
    assert_int_equal(values.count, 2);
    expect(&values, 0, 1000, 8, 42);
    expect(&values, 1, 2500, 9, UINT64_MAX);
    array_free(&values);
}

/* The PTWRITE packets of the qemu engine are about the stack pointer. */
static void without_being_asked_for_there_are_none(void **state)
{
    struct ring ring = {0};
    make(&ring);
    struct aux_chunk chunk;
    struct perf_data data = data_of(&chunk, &ring, 7, UINT32_MAX);
    data.setup.config = 0;
    struct array values = find(&data);
    assert_int_equal(values.count, 0);
    array_free(&values);
}

static void add_ratio(struct ring *ring, uint8_t ratio)
{
    ring->size += pt_packet_cbr(ring->bytes + ring->size, ratio);
}

static void a_change_of_frequency_is_reported(void **state)
{
    struct ring ring = {0};
    add_header(&ring, 1000);
    add_ratio(&ring, 20);
    add_header(&ring, 2000);
    add_ratio(&ring, 20);
    add_header(&ring, 3000);
    add_ratio(&ring, 35);
    add_time(&ring, 4000);
    add_ratio(&ring, 10);
    struct aux_chunk chunk;
    struct perf_data data = data_of(&chunk, &ring, 7, UINT32_MAX);
    data.setup.config = 0;
    struct array values = find(&data);
    assert_int_equal(values.count, 3);
    expect(&values, 0, 1000, 7, 2000);
    expect(&values, 1, 3000, 7, 3500);
    expect(&values, 2, 4000, 7, 1000);
    array_free(&values);
}

static void a_frequency_that_never_changes_is_not_reported(void **state)
{
    struct ring ring = {0};
    add_header(&ring, 1000);
    add_ratio(&ring, 20);
    add_header(&ring, 2000);
    add_ratio(&ring, 20);
    struct aux_chunk chunk;
    const struct perf_data data = data_of(&chunk, &ring, 7, UINT32_MAX);
    struct array values = find(&data);
    assert_int_equal(values.count, 0);
    array_free(&values);
}

static void a_processors_frequency_belongs_to_no_thread(void **state)
{
    struct ring ring = {0};
    add_header(&ring, 1000);
    add_ratio(&ring, 20);
    add_time(&ring, 1500);
    add_ratio(&ring, 30);
    struct aux_chunk chunk;
    struct perf_data data = data_of(&chunk, &ring, UINT32_MAX, 3);
    struct sideband_record turn = {.kind = SIDEBAND_TRACE_START, .time = {900}, .tid = 8, .cpu = 3};
    data.records = &turn;
    data.record_count = 1;
    struct array values = find(&data);
    assert_int_equal(values.count, 2);
    expect(&values, 0, 1000, UINT32_MAX, 2000);
    expect(&values, 1, 1500, UINT32_MAX, 3000);
    assert_int_equal(((struct trace_mark *)array_at(&values, 1))->cpu, 3);
    array_free(&values);
}

static void add_bytes(struct ring *ring, const uint8_t *bytes, size_t size)
{
    memcpy(ring->bytes + ring->size, bytes, size);
    ring->size += size;
}

static void make_sleep(struct ring *ring)
{
    static const uint8_t entry[] = {0x02, 0x22, 0x00, 0x60}; /* C6 */
    static const uint8_t exit[] = {0x02, 0xa2, 0x66, 0x01, 0, 0, 0};
    add_header(ring, 1000);
    add_ratio(ring, 20);
    add_time(ring, 1500);
    add_bytes(ring, entry, sizeof entry);
    add_header(ring, 2000); /* asleep over a PSB */
    add_time(ring, 2500);
    add_bytes(ring, exit, sizeof exit);
}

static void a_processor_sleeps_and_awakes(void **state)
{
    struct ring ring = {0};
    make_sleep(&ring);
    struct aux_chunk chunk;
    struct perf_data data = data_of(&chunk, &ring, UINT32_MAX, 3);
    data.setup.config = REPORTS_SLEEP;
    struct array values = find(&data);
    assert_int_equal(values.count, 2);
    expect(&values, 0, 1500, UINT32_MAX, 6);
    expect(&values, 1, 2500, UINT32_MAX, 0);
    for (size_t i = 0; i < values.count; i++) {
        const struct trace_mark *mark = array_at(&values, i);
        assert_int_equal(mark->kind, TRACE_MARK_SLEEP);
        assert_int_equal(mark->cpu, 3);
    }
    array_free(&values);
}

static void sleep_that_was_not_asked_for_is_not_reported(void **state)
{
    struct ring ring = {0};
    make_sleep(&ring);
    struct aux_chunk chunk;
    const struct perf_data data = data_of(&chunk, &ring, UINT32_MAX, 3);
    struct array values = find(&data);
    assert_int_equal(values.count, 0);
    array_free(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_threads_values_have_their_times),
        cmocka_unit_test(a_processors_values_belong_to_the_thread_that_ran),
        cmocka_unit_test(a_change_of_frequency_is_reported),
        cmocka_unit_test(a_processor_sleeps_and_awakes),
        cmocka_unit_test(sleep_that_was_not_asked_for_is_not_reported),
        cmocka_unit_test(a_frequency_that_never_changes_is_not_reported),
        cmocka_unit_test(a_processors_frequency_belongs_to_no_thread),
        cmocka_unit_test(without_being_asked_for_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
