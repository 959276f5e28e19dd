/* Durations as text, and quantiles against sorted lists. */
#include "output/duration.h"
#include "output/report/durations.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void durations_have_four_digits_and_a_unit(void **state)
{
    (void)state;
    static const struct {
        uint64_t nanoseconds;
        const char *text, *exact;
    } CASES[] = {
        {0, "0 ns", "0 ns"},
        {999, "999 ns", "999 ns"},
        {1000, "1.000 us", "1.000 us"},
        {9999, "9.999 us", "9.999 us"},
        {12345, "12.35 us", "12.345 us"},
        {99996, "100.0 us", "99.996 us"},
        {999940, "999.9 us", "999.940 us"},
        {999960, "1.000 ms", "999.960 us"},
        {56780000, "56.78 ms", "56.780000 ms"},
        {UINT64_C(1234567890123), "1235 s", "1234.567890123 s"},
        {UINT64_MAX, "18446744074 s", "18446744073.709551615 s"},
    };
    char text[DURATION_TEXT_SIZE];
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_string_equal(duration_format(text, CASES[i].nanoseconds), CASES[i].text);
        assert_string_equal(duration_format_exact(text, CASES[i].nanoseconds), CASES[i].exact);
        const char *of_call = CASES[i].nanoseconds ? CASES[i].text : "<1 ns";
        assert_string_equal(duration_format_call(text, CASES[i].nanoseconds), of_call);
    }
}

static void durations_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t nanoseconds;
    } CASES[] = {
        {"300", 300},
        {"0", 0},
        {"1.5ms", 1500000},
        {"20 us", 20000},
        {".5us", 500},
        {"3.s", 3000000000},
        {"1.0000000019s", 1000000001},
        {"7\xc2\xb5s", 7000},
        {"12.345 us", 12345},
        {"9223372036s", UINT64_C(9223372036000000000)},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint64_t got;
        assert_true(duration_parse(CASES[i].text, &got));
        assert_int_equal(got, CASES[i].nanoseconds);
    }
    static const char *const WRONG[] = {
        "",       ".",   "ms",   "main",   "5 minutes",   "-3ms",
        "1.2.3s", "1e9", "10s ", "0x10us", "9223372037s", "99999999999999999999"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        uint64_t got;
        assert_false(duration_parse(WRONG[i], &got));
    }
    assert_true(duration_has_unit("5ms"));
    assert_true(duration_has_unit("1.5 s"));
    assert_false(duration_has_unit("5"));
    assert_false(duration_has_unit("1.5 "));
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All quantiles of `count` values, spread over many orders of magnitude, within `error` of the
 * exact ones. */
static void check_quantiles(size_t count, double error)
{
    uint64_t *values = memory_allocate(count * sizeof *values);
    struct durations durations = {0};
    uint64_t random = 12345;
    for (size_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) +
                 UINT64_C(1442695040888963407); /* Knuth's MMIX */
        values[i] = random >> (random >> 58);
        durations_add(&durations, values[i]);
    }
    qsort(values, count, sizeof *values, compare);
    assert_int_equal(durations.min, values[0]);
    assert_int_equal(durations.max, values[count - 1]);
    for (int percent = 0; percent <= 100; percent++) {
        size_t rank = (size_t)ceil(percent / 100.0 * (double)count);
        double exact = (double)values[rank ? rank - 1 : 0];
        double got = (double)durations_quantile(&durations, percent / 100.0);
        assert_true(fabs(got - exact) <= error * exact);
    }
    durations_free(&durations);
    free(values);
}

static void quantiles_of_few_are_exact(void **state)
{
    (void)state;
    check_quantiles(1, 0);
    check_quantiles(2, 0);
    check_quantiles(DURATIONS_EXACT, 0);
}

static void quantiles_of_many_are_near(void **state)
{
    (void)state;
    check_quantiles(DURATIONS_EXACT + 1, 1.0 / 256);
    check_quantiles(100000, 1.0 / 256);
}

static void quantiles_of_none_are_zero(void **state)
{
    (void)state;
    struct durations durations = {0};
    assert_int_equal(durations_quantile(&durations, 0.5), 0);
    durations_free(&durations);
}

static void extreme_durations_have_a_class(void **state)
{
    (void)state;
    struct durations durations = {0};
    for (int i = 0; i < 100; i++) {
        durations_add(&durations, 0);
        durations_add(&durations, UINT64_MAX);
    }
    assert_int_equal(durations_quantile(&durations, 0.25), 0);
    assert_true(durations_quantile(&durations, 0.75) > UINT64_MAX - UINT64_MAX / 256);
    durations_free(&durations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_have_four_digits_and_a_unit),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(quantiles_of_few_are_exact),
        cmocka_unit_test(quantiles_of_many_are_near),
        cmocka_unit_test(quantiles_of_none_are_zero),
        cmocka_unit_test(extreme_durations_have_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
