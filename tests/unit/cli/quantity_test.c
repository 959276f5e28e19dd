#include "cli/options/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void sizes_are_read_with_every_suffix(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"4096", 4096},
        {"256K", 256 << 10},
        {"4m", 4 << 20},
        {"4MB", 4 << 20},
        {"4MiB", 4 << 20},
        {"1G", 1 << 30},
        {"12b", 12},
        {"2T", 2ull << 40},
        {"16777215T", 16777215ull << 40},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = 1;
        assert_true(quantity_parse_bytes(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
}

static void what_is_no_size_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    "K",   "-1",   "+1",   " 1",        "4X",
        "4KK", "4iB", "1.5M", "0x10", "16777216T", "99999999999999999999",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t bytes;
        assert_false(quantity_parse_bytes(bad[i], &bytes));
    }
}

static void powers_of_two_are_rounded_up(void **state)
{
    (void)state;
    assert_int_equal(quantity_power_of_two(0), 1);
    assert_int_equal(quantity_power_of_two(4096), 4096);
    assert_int_equal(quantity_power_of_two(4097), 8192);
    assert_true(quantity_power_of_two(UINT64_C(1) << 63) == UINT64_C(1) << 63);
    assert_int_equal(quantity_power_of_two((UINT64_C(1) << 63) + 1), 0);
}

static void numbers_are_printed_as_people_write_them(void **state)
{
    (void)state;
    assert_string_equal(quantity_count(0).text, "0");
    assert_string_equal(quantity_count(999).text, "999");
    assert_string_equal(quantity_count(1000).text, "1,000");
    assert_string_equal(quantity_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(quantity_bytes(999).text, "999 bytes");
    assert_string_equal(quantity_bytes(4194304).text, "4.19 MB");
    assert_string_equal(quantity_bytes(114000000).text, "114 MB");
    assert_string_equal(quantity_bytes(1000).text, "1.00 kB");
    assert_string_equal(quantity_bytes(999999).text, "1.00 MB");
    assert_string_equal(quantity_bytes(9999000).text, "10.0 MB");
    assert_string_equal(quantity_bytes(99990000).text, "100 MB");
    assert_string_equal(quantity_bytes(5000000000000).text, "5000 GB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read_with_every_suffix),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(powers_of_two_are_rounded_up),
        cmocka_unit_test(numbers_are_printed_as_people_write_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
