/* Where the packets of a trace segment are cut. They are PAD packets, except for those that a test
 * puts there.
 */
#include "decode/pt/psb_segment.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    PSB_SEGMENT_BYTES = 1 << 16, /* as in psb_segment.c */
    PSB_SIZE = 16,
    SEGMENT_SIZE = 4 * PSB_SEGMENT_BYTES,
};

struct segment {
    uint8_t *bytes;
    size_t size;
    struct array psb_segments;
};

static int begin(void **state)
{
    static struct segment segment;
    segment = (struct segment){.bytes = memory_allocate_zeroed(SEGMENT_SIZE),
                               .size = SEGMENT_SIZE,
                               .psb_segments = array_of(sizeof(struct psb_segment))};
    *state = &segment;
    return 0;
}

static int end(void **state)
{
    struct segment *segment = *state;
    array_free(&segment->psb_segments);
    free(segment->bytes);
    return 0;
}

/* PSB and the packets after it. */
static void put_psb(struct segment *segment, size_t offset, const void *after, size_t size)
{
    for (size_t i = 0; i < PSB_SIZE; i += 2)
        memcpy(segment->bytes + offset + i, "\x02\x82", 2);
    memcpy(segment->bytes + offset + PSB_SIZE, after, size);
}

/* PSB, TSC, PSBEND. */
static void put_timed_psb(struct segment *segment, size_t offset, uint8_t time)
{
    const uint8_t after[] = {0x19, time, 0, 0, 0, 0, 0, 0, 0x02, 0x23};
    put_psb(segment, offset, after, sizeof(after));
}

static void cut(struct segment *segment)
{
    psb_segments_cut(&segment->psb_segments, segment->bytes, segment->size, true);
}

static void expect(const struct segment *segment, size_t index, size_t start, size_t stop,
                   uint64_t time)
{
    assert_true(index < segment->psb_segments.count);
    const struct psb_segment *psb_segment = array_at(&segment->psb_segments, index);
    assert_int_equal(psb_segment->start, start);
    assert_int_equal(psb_segment->stop, stop);
    assert_int_equal(psb_segment->time.value, time);
}

static void a_psb_segment_ends_at_the_first_psb_after_its_size(void **state)
{
    struct segment *s = *state;
    put_timed_psb(s, 0, 1);
    put_timed_psb(s, 1000, 2);
    put_timed_psb(s, PSB_SEGMENT_BYTES - 1, 3); /* too early by a byte */
    put_timed_psb(s, PSB_SEGMENT_BYTES + 100, 4);
    put_timed_psb(s, PSB_SEGMENT_BYTES + 200, 5);
    cut(s);
    assert_int_equal(s->psb_segments.count, 2);
    expect(s, 0, 0, PSB_SEGMENT_BYTES + 100, 0);
    expect(s, 1, PSB_SEGMENT_BYTES + 100, SEGMENT_SIZE, 4);
}

static void a_psb_segment_may_be_of_exactly_its_size(void **state)
{
    struct segment *s = *state;
    for (unsigned i = 0; i < 4; i++)
        put_timed_psb(s, (size_t)i * PSB_SEGMENT_BYTES, (uint8_t)(10 + i));
    cut(s);
    assert_int_equal(s->psb_segments.count, 4);
    expect(s, 0, 0, PSB_SEGMENT_BYTES, 0);
    expect(s, 1, PSB_SEGMENT_BYTES, 2 * PSB_SEGMENT_BYTES, 11);
    expect(s, 2, 2 * PSB_SEGMENT_BYTES, 3 * PSB_SEGMENT_BYTES, 12);
    expect(s, 3, 3 * PSB_SEGMENT_BYTES, SEGMENT_SIZE, 13);
}

/* The size counts from the beginning of the PSB segment, not from where it could have ended. */
static void every_psb_segment_has_its_size(void **state)
{
    struct segment *s = *state;
    put_timed_psb(s, PSB_SEGMENT_BYTES + PSB_SEGMENT_BYTES / 2, 1);
    put_timed_psb(s, 2 * PSB_SEGMENT_BYTES, 2);
    put_timed_psb(s, 3 * PSB_SEGMENT_BYTES, 3);
    cut(s);
    assert_int_equal(s->psb_segments.count, 3);
    expect(s, 1, PSB_SEGMENT_BYTES + PSB_SEGMENT_BYTES / 2, 3 * PSB_SEGMENT_BYTES, 1);
}

/* The PSB near the end is less than a PSB segment's size after the one before. */
static void a_short_rest_stays_with_the_last_psb_segment(void **state)
{
    struct segment *s = *state;
    put_timed_psb(s, SEGMENT_SIZE - PSB_SEGMENT_BYTES - 8, 1);
    put_timed_psb(s, SEGMENT_SIZE - 100, 2);
    cut(s);
    assert_int_equal(s->psb_segments.count, 2);
    expect(s, 1, SEGMENT_SIZE - PSB_SEGMENT_BYTES - 8, SEGMENT_SIZE, 1);
}

static void a_psb_without_time_is_no_border(void **state)
{
    static const uint8_t untimed[] = {0x02, 0x03, 26, 0, 0x02, 0x23}; /* CBR, PSBEND */
    static const uint8_t overflow[] = {0x02, 0xf3, 0x19, 1, 0, 0, 0, 0, 0, 0};
    static const uint8_t damaged[] = {0xc9, 0x19, 1, 0, 0, 0, 0, 0, 0};
    struct segment *s = *state;
    put_psb(s, PSB_SEGMENT_BYTES, untimed, sizeof(untimed));
    memcpy(s->bytes + PSB_SEGMENT_BYTES + PSB_SIZE + sizeof(untimed), "\x19\x01\0\0\0\0\0\0", 8);
    put_psb(s, PSB_SEGMENT_BYTES + 100, overflow, sizeof(overflow));
    put_psb(s, PSB_SEGMENT_BYTES + 200, damaged, sizeof(damaged));
    put_timed_psb(s, PSB_SEGMENT_BYTES + 300, 7);
    cut(s);
    assert_int_equal(s->psb_segments.count, 2);
    expect(s, 1, PSB_SEGMENT_BYTES + 300, SEGMENT_SIZE, 7);
}

static void the_time_may_be_anywhere_in_the_header(void **state)
{
    static const uint8_t after[] = {0x02, 0x03, 26, 0, 0x99, 0x01, 0x19, 0x34,
                                    0x12, 0,    0,  0, 0,    0,    0x02, 0x23};
    struct segment *s = *state;
    put_psb(s, PSB_SEGMENT_BYTES, after, sizeof(after));
    cut(s);
    expect(s, 1, PSB_SEGMENT_BYTES, SEGMENT_SIZE, 0x1234);
}

static void a_psb_that_the_end_cuts_off_is_no_border(void **state)
{
    struct segment *s = *state;
    put_timed_psb(s, 2 * PSB_SEGMENT_BYTES, 1);
    s->size = 2 * PSB_SEGMENT_BYTES + PSB_SIZE + 5; /* in the TSC packet */
    cut(s);
    assert_int_equal(s->psb_segments.count, 1);
    expect(s, 0, 0, s->size, 0);
}

static void data_without_tsc_packets_are_one_psb_segment(void **state)
{
    struct segment *s = *state;
    put_timed_psb(s, 2 * PSB_SEGMENT_BYTES, 1); /* whatever is there */
    psb_segments_cut(&s->psb_segments, s->bytes, s->size, false);
    assert_int_equal(s->psb_segments.count, 1);
    expect(s, 0, 0, SEGMENT_SIZE, 0);
}

static void data_without_psb_are_one_psb_segment(void **state)
{
    struct segment *s = *state;
    cut(s);
    assert_int_equal(s->psb_segments.count, 1);
    expect(s, 0, 0, SEGMENT_SIZE, 0);
}

static void no_data_are_one_psb_segment(void **state)
{
    struct segment *s = *state;
    s->size = 0;
    cut(s);
    assert_int_equal(s->psb_segments.count, 1);
    expect(s, 0, 0, 0, 0);
}

static void psb_segments_are_added_to_others(void **state)
{
    struct segment *s = *state;
    put_timed_psb(s, PSB_SEGMENT_BYTES, 1);
    cut(s);
    cut(s);
    assert_int_equal(s->psb_segments.count, 4);
    expect(s, 2, 0, PSB_SEGMENT_BYTES, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_psb_segment_ends_at_the_first_psb_after_its_size),
        TEST(a_psb_segment_may_be_of_exactly_its_size),
        TEST(every_psb_segment_has_its_size),
        TEST(a_short_rest_stays_with_the_last_psb_segment),
        TEST(a_psb_without_time_is_no_border),
        TEST(the_time_may_be_anywhere_in_the_header),
        TEST(a_psb_that_the_end_cuts_off_is_no_border),
        TEST(data_without_tsc_packets_are_one_psb_segment),
        TEST(data_without_psb_are_one_psb_segment),
        TEST(no_data_are_one_psb_segment),
        TEST(psb_segments_are_added_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
