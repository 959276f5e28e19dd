#include "runtime/qemu_plugin/clock_history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int make(void **state)
{
    *state = calloc(1, sizeof(struct qemu_clock_history));
    return *state ? 0 : -1;
}

static int destroy(void **state)
{
    free(*state);
    return 0;
}

static void without_thefts_time_is_the_counter(void **state)
{
    assert_int_equal(clock_history_time(*state, 12345), 12345);
}

static void thefts_before_a_moment_count(void **state)
{
    struct qemu_clock_history *history = *state;
    clock_history_add(history, 1000, 100);
    clock_history_add(history, 2000, 300);
    assert_int_equal(clock_history_time(history, 500), 500);
    assert_int_equal(clock_history_time(history, 1000), 900);
    assert_int_equal(clock_history_time(history, 1500), 1400);
    assert_int_equal(clock_history_time(history, 2000), 1700);
    assert_int_equal(clock_history_time(history, 9000), 8700);
}

/* From 1700 to 2000 time stood still: it was stolen then. */
static void during_a_theft_time_stands_still(void **state)
{
    struct qemu_clock_history *history = *state;
    clock_history_add(history, 2000, 300);
    assert_int_equal(clock_history_time(history, 1699), 1699);
    for (uint64_t tsc = 1700; tsc <= 2000; tsc += 50)
        assert_int_equal(clock_history_time(history, tsc), 1700);
    assert_int_equal(clock_history_time(history, 2001), 1701);
}

static void time_never_goes_back(void **state)
{
    struct qemu_clock_history *history = *state;
    uint64_t stolen = 0, last = 0;
    srand(7);
    for (uint64_t tsc = 1000; tsc < 100000; tsc += 100 + (uint64_t)rand() % 400) {
        stolen += (uint64_t)rand() % 100;
        clock_history_add(history, tsc, stolen);
    }
    for (uint64_t tsc = 0; tsc < 110000; tsc++) {
        uint64_t time = clock_history_time(history, tsc);
        assert_true(time >= last && time <= tsc);
        last = time;
    }
    assert_int_equal(last, 109999 - stolen);
}

/* What is older than all that is remembered is converted like the oldest. */
static void old_moments_are_like_the_oldest_known(void **state)
{
    struct qemu_clock_history *history = *state;
    for (uint64_t i = 1; i <= 2 * QEMU_CLOCK_THEFTS; i++)
        clock_history_add(history, 100 * i, 10 * i);
    uint64_t oldest = QEMU_CLOCK_THEFTS + 1;
    assert_int_equal(clock_history_time(history, 100 * oldest), 90 * oldest);
    assert_true(clock_history_time(history, 100) <= 90 * oldest);
    uint64_t newest = 2 * QEMU_CLOCK_THEFTS;
    assert_int_equal(clock_history_time(history, 100 * newest + 5), 90 * newest + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_thefts_time_is_the_counter, make, destroy),
        cmocka_unit_test_setup_teardown(thefts_before_a_moment_count, make, destroy),
        cmocka_unit_test_setup_teardown(during_a_theft_time_stands_still, make, destroy),
        cmocka_unit_test_setup_teardown(time_never_goes_back, make, destroy),
        cmocka_unit_test_setup_teardown(old_moments_are_like_the_oldest_known, make, destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
