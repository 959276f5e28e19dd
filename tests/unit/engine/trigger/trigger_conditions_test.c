#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/trigger/trigger_conditions.h"

static void without_conditions_every_hit_counts(void **state)
{
    (void)state;
    struct trigger trigger = {0};
    struct trigger_conditions conditions = {.trigger = &trigger};
    assert_true(trigger_hit_counts(&conditions, 10, 0));
    assert_true(trigger_hit_counts(&conditions, 10, 0));
    assert_true(trigger_hit_counts(&conditions, 5, 0));
}

static void a_delay_is_from_the_hit_before_and_never_of_the_first(void **state)
{
    (void)state;
    struct trigger trigger = {.delay_threshold_ns = 100};
    struct trigger_conditions conditions = {.trigger = &trigger};
    assert_false(trigger_hit_counts(&conditions, 1000, 0));
    assert_false(trigger_hit_counts(&conditions, 1100, 0));
    assert_true(trigger_hit_counts(&conditions, 1201, 0));
    assert_int_equal(conditions.longest_delay, 101);
    conditions.longest_delay = 0;
    assert_false(trigger_hit_counts(&conditions, 1251, 0));
    assert_int_equal(conditions.longest_delay, 50);
}

/* Threads' hits may be reported some microseconds out of order. */
static void a_hit_that_is_reported_late_has_no_delay(void **state)
{
    (void)state;
    struct trigger trigger = {.delay_threshold_ns = 100};
    struct trigger_conditions conditions = {.trigger = &trigger};
    assert_false(trigger_hit_counts(&conditions, 1000, 0));
    assert_false(trigger_hit_counts(&conditions, 990, 0));
    assert_false(trigger_hit_counts(&conditions, 1095, 0));
    assert_int_equal(conditions.longest_delay, 95);
}

static void a_duration_is_from_the_time_passed(void **state)
{
    (void)state;
    struct trigger trigger = {.duration_threshold_ns = 100};
    struct trigger_conditions conditions = {.trigger = &trigger};
    assert_false(trigger_hit_counts(&conditions, 1000, 0));
    assert_false(trigger_hit_counts(&conditions, 1000, 900));
    assert_true(trigger_hit_counts(&conditions, 1000, 899));
    assert_false(trigger_hit_counts(&conditions, 1000, 2000));
}

static void arguments_are_untagged(void **state)
{
    (void)state;
    assert_int_equal(trigger_passed_time(2 * 12345 + 1), 12345);
    assert_true(trigger_passed_argument((uint64_t)(2 * -7 + 1)) == -7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_conditions_every_hit_counts),
        cmocka_unit_test(a_delay_is_from_the_hit_before_and_never_of_the_first),
        cmocka_unit_test(a_hit_that_is_reported_late_has_no_delay),
        cmocka_unit_test(a_duration_is_from_the_time_passed),
        cmocka_unit_test(arguments_are_untagged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
