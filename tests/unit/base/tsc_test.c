/* The conversion from ticks to CLOCK_MONOTONIC. */
#include "base/tsc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void the_anchor_is_its_own_time(void **state)
{
    static const uint64_t rates[] = {500000000, 1000000000, 2596000000, 5000000000};
    struct tsc_anchor anchor = {.tsc = 123456789012345, .monotonic_ns = 98765432109876};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct clock_conversion clock = tsc_conversion(&anchor, rates[i]);
        uint64_t at = clock_to_nanoseconds(&clock, (struct ticks){anchor.tsc}).value;
        assert_int_equal(at, anchor.monotonic_ns);
        /* Ten seconds later it is off by less than ten nanoseconds. */
        struct ticks later = {anchor.tsc + 10 * rates[i]};
        int64_t off = (int64_t)(clock_to_nanoseconds(&clock, later).value - at - 10000000000u);
        assert_in_range(off + 10, 0, 20);
    }
}

static void the_rate_is_ticks_by_time(void **state)
{
    struct tsc_anchor start = {.tsc = 1000, .monotonic_ns = 500};
    struct tsc_anchor end = {.tsc = 1000 + 7788000000, .monotonic_ns = 500 + 3000000000};
    assert_int_equal(tsc_rate(&start, &end), 2596000000);
}

static void anchors_that_do_not_fit_give_no_rate(void **state)
{
    struct tsc_anchor start = {.tsc = 1000, .monotonic_ns = 5000000};
    struct tsc_anchor restarted = {.tsc = 900, .monotonic_ns = 9000000};
    struct tsc_anchor too_soon = {.tsc = 2000, .monotonic_ns = 5000001};
    struct tsc_anchor earlier = {.tsc = 2000, .monotonic_ns = 1};
    assert_int_equal(tsc_rate(&start, &restarted), 0);
    assert_int_equal(tsc_rate(&start, &too_soon), 0);
    assert_int_equal(tsc_rate(&start, &earlier), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_anchor_is_its_own_time),
        cmocka_unit_test(the_rate_is_ticks_by_time),
        cmocka_unit_test(anchors_that_do_not_fit_give_no_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
