/* Ticks -> the count of instructions. */
#include "engine/translator/transcode/moments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void the_latest_moment_counts(void **state)
{
    struct moments moments;
    moments_init(&moments, 5);
    assert_int_equal(moments_convert(&moments, 100), 5);
    for (uint64_t i = 1; i <= 100; i++)
        moments_add(&moments, 1000 * i, 10 * i);
    assert_int_equal(moments_convert(&moments, 999), 5);
    for (uint64_t i = 1; i <= 100; i++) {
        assert_int_equal(moments_convert(&moments, 1000 * i), 10 * i);
        assert_int_equal(moments_convert(&moments, 1000 * i + 999), 10 * i);
    }
    assert_int_equal(moments_convert(&moments, UINT64_MAX), 1000);
    moments_free(&moments);
}

static void moments_at_the_same_time_are_one_after_the_other(void **state)
{
    struct moments moments;
    moments_init(&moments, 0);
    moments_add(&moments, 1000, 1);
    moments_add(&moments, 1000, 2);
    moments_add(&moments, 900, 3); /* a log that was tampered with */
    moments_add(&moments, 1100, 4);
    assert_int_equal(moments_convert(&moments, 1000), 3);
    assert_int_equal(moments_convert(&moments, 950), 0);
    assert_int_equal(moments_convert(&moments, 1100), 4);
    moments_free(&moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_moment_counts),
        cmocka_unit_test(moments_at_the_same_time_are_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
