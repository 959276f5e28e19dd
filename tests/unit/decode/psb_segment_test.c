/* Where a stretch of packets is cut. It is all PAD packets, but for what a test puts there. */
#include "decode/pt/psb_segment.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    SLICE_BYTES = 1 << 16, /* as in psb_segment.c */
    PSB_SIZE = 16,
    STRETCH_SIZE = 4 * SLICE_BYTES,
};

struct stretch {
    uint8_t *bytes;
    size_t size;
    struct array slices;
};

static int begin(void **state)
{
    static struct stretch stretch;
    stretch = (struct stretch){.bytes = memory_allocate_zeroed(STRETCH_SIZE),
                               .size = STRETCH_SIZE,
                               .slices = array_of(sizeof(struct slice))};
    *state = &stretch;
    return 0;
}

static int end(void **state)
{
    struct stretch *stretch = *state;
    array_free(&stretch->slices);
    free(stretch->bytes);
    return 0;
}

/* PSB and the packets behind it. */
static void put_psb(struct stretch *stretch, size_t offset, const void *behind, size_t size)
{
    for (size_t i = 0; i < PSB_SIZE; i += 2)
        memcpy(stretch->bytes + offset + i, "\x02\x82", 2);
    memcpy(stretch->bytes + offset + PSB_SIZE, behind, size);
}

/* PSB, TSC, PSBEND. */
static void put_timed_psb(struct stretch *stretch, size_t offset, uint8_t time)
{
    const uint8_t behind[] = {0x19, time, 0, 0, 0, 0, 0, 0, 0x02, 0x23};
    put_psb(stretch, offset, behind, sizeof(behind));
}

static void cut(struct stretch *stretch)
{
    slices_cut(&stretch->slices, stretch->bytes, stretch->size, true);
}

static void expect(const struct stretch *stretch, size_t index, size_t start, size_t stop,
                   uint64_t time)
{
    assert_true(index < stretch->slices.count);
    const struct slice *slice = array_at(&stretch->slices, index);
    assert_int_equal(slice->start, start);
    assert_int_equal(slice->stop, stop);
    assert_int_equal(slice->time.value, time);
}

static void a_slice_ends_at_the_first_psb_behind_its_size(void **state)
{
    struct stretch *s = *state;
    put_timed_psb(s, 0, 1);
    put_timed_psb(s, 1000, 2);
    put_timed_psb(s, SLICE_BYTES - 1, 3); /* too early by a byte */
    put_timed_psb(s, SLICE_BYTES + 100, 4);
    put_timed_psb(s, SLICE_BYTES + 200, 5);
    cut(s);
    assert_int_equal(s->slices.count, 2);
    expect(s, 0, 0, SLICE_BYTES + 100, 0);
    expect(s, 1, SLICE_BYTES + 100, STRETCH_SIZE, 4);
}

static void a_slice_may_be_of_exactly_its_size(void **state)
{
    struct stretch *s = *state;
    for (unsigned i = 0; i < 4; i++)
        put_timed_psb(s, (size_t)i * SLICE_BYTES, (uint8_t)(10 + i));
    cut(s);
    assert_int_equal(s->slices.count, 4);
    expect(s, 0, 0, SLICE_BYTES, 0);
    expect(s, 1, SLICE_BYTES, 2 * SLICE_BYTES, 11);
    expect(s, 2, 2 * SLICE_BYTES, 3 * SLICE_BYTES, 12);
    expect(s, 3, 3 * SLICE_BYTES, STRETCH_SIZE, 13);
}

/* The size counts from the beginning of the slice, not from where it could have ended. */
static void every_slice_has_its_size(void **state)
{
    struct stretch *s = *state;
    put_timed_psb(s, SLICE_BYTES + SLICE_BYTES / 2, 1);
    put_timed_psb(s, 2 * SLICE_BYTES, 2);
    put_timed_psb(s, 3 * SLICE_BYTES, 3);
    cut(s);
    assert_int_equal(s->slices.count, 3);
    expect(s, 1, SLICE_BYTES + SLICE_BYTES / 2, 3 * SLICE_BYTES, 1);
}

/* The PSB near the end is less than a slice behind the one before. */
static void a_short_rest_stays_with_the_last_slice(void **state)
{
    struct stretch *s = *state;
    put_timed_psb(s, STRETCH_SIZE - SLICE_BYTES - 8, 1);
    put_timed_psb(s, STRETCH_SIZE - 100, 2);
    cut(s);
    assert_int_equal(s->slices.count, 2);
    expect(s, 1, STRETCH_SIZE - SLICE_BYTES - 8, STRETCH_SIZE, 1);
}

static void a_psb_without_time_is_no_border(void **state)
{
    static const uint8_t untimed[] = {0x02, 0x03, 26, 0, 0x02, 0x23}; /* CBR, PSBEND */
    static const uint8_t overflow[] = {0x02, 0xf3, 0x19, 1, 0, 0, 0, 0, 0, 0};
    static const uint8_t damaged[] = {0xc9, 0x19, 1, 0, 0, 0, 0, 0, 0};
    struct stretch *s = *state;
    put_psb(s, SLICE_BYTES, untimed, sizeof(untimed));
    memcpy(s->bytes + SLICE_BYTES + PSB_SIZE + sizeof(untimed), "\x19\x01\0\0\0\0\0\0", 8);
    put_psb(s, SLICE_BYTES + 100, overflow, sizeof(overflow));
    put_psb(s, SLICE_BYTES + 200, damaged, sizeof(damaged));
    put_timed_psb(s, SLICE_BYTES + 300, 7);
    cut(s);
    assert_int_equal(s->slices.count, 2);
    expect(s, 1, SLICE_BYTES + 300, STRETCH_SIZE, 7);
}

static void the_time_may_be_anywhere_in_the_header(void **state)
{
    static const uint8_t behind[] = {0x02, 0x03, 26, 0, 0x99, 0x01, 0x19, 0x34,
                                     0x12, 0,    0,  0, 0,    0,    0x02, 0x23};
    struct stretch *s = *state;
    put_psb(s, SLICE_BYTES, behind, sizeof(behind));
    cut(s);
    expect(s, 1, SLICE_BYTES, STRETCH_SIZE, 0x1234);
}

static void a_psb_that_the_end_cuts_off_is_no_border(void **state)
{
    struct stretch *s = *state;
    put_timed_psb(s, 2 * SLICE_BYTES, 1);
    s->size = 2 * SLICE_BYTES + PSB_SIZE + 5; /* in the TSC packet */
    cut(s);
    assert_int_equal(s->slices.count, 1);
    expect(s, 0, 0, s->size, 0);
}

static void data_without_tsc_packets_are_one_slice(void **state)
{
    struct stretch *s = *state;
    put_timed_psb(s, 2 * SLICE_BYTES, 1); /* whatever is there */
    slices_cut(&s->slices, s->bytes, s->size, false);
    assert_int_equal(s->slices.count, 1);
    expect(s, 0, 0, STRETCH_SIZE, 0);
}

static void data_without_psb_are_one_slice(void **state)
{
    struct stretch *s = *state;
    cut(s);
    assert_int_equal(s->slices.count, 1);
    expect(s, 0, 0, STRETCH_SIZE, 0);
}

static void no_data_are_one_slice(void **state)
{
    struct stretch *s = *state;
    s->size = 0;
    cut(s);
    assert_int_equal(s->slices.count, 1);
    expect(s, 0, 0, 0, 0);
}

static void slices_are_added_to_others(void **state)
{
    struct stretch *s = *state;
    put_timed_psb(s, SLICE_BYTES, 1);
    cut(s);
    cut(s);
    assert_int_equal(s->slices.count, 4);
    expect(s, 2, 0, SLICE_BYTES, 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_slice_ends_at_the_first_psb_behind_its_size),
        TEST(a_slice_may_be_of_exactly_its_size),
        TEST(every_slice_has_its_size),
        TEST(a_short_rest_stays_with_the_last_slice),
        TEST(a_psb_without_time_is_no_border),
        TEST(the_time_may_be_anywhere_in_the_header),
        TEST(a_psb_that_the_end_cuts_off_is_no_border),
        TEST(data_without_tsc_packets_are_one_slice),
        TEST(data_without_psb_are_one_slice),
        TEST(no_data_are_one_slice),
        TEST(slices_are_added_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
