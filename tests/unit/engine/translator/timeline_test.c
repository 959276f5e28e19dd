/* Time between the places where a log has it. */
#include "engine/translator/transcode/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void it_passes_evenly_with_the_instructions(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 1000);
    timeline_pass(&timeline, 3000, 100);
    assert_int_equal(timeline_at(&timeline, 0), 1000);
    assert_int_equal(timeline_at(&timeline, 25), 1500);
    assert_int_equal(timeline_at(&timeline, 100), 3000);
    assert_int_equal(timeline_at(&timeline, 200), 3000); /* not before it is known to be later */
    timeline_set(&timeline, 3000, 100);
    timeline_pass(&timeline, 3032, 228);
    assert_int_equal(timeline_at(&timeline, 164), 3016);
}

static void an_unknown_end_comes_at_the_same_pace(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 1000);
    timeline_pass(&timeline, 3000, 100);
    timeline_set(&timeline, 3000, 100);
    timeline_pass_unknown(&timeline);
    assert_int_equal(timeline_at(&timeline, 150), 4000);
}

static void an_unknown_beginning_comes_at_one_tick_per_instruction(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 0);
    timeline_pass(&timeline, 3000, 100);
    assert_int_equal(timeline_at(&timeline, 0), 2900);
    assert_int_equal(timeline_at(&timeline, 100), 3000);
    timeline_begin(&timeline, false, 0);
    timeline_pass(&timeline, 50, 100);
    assert_int_equal(timeline_at(&timeline, 0), 1);
}

static void it_jumps_where_it_is_set(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 1000);
    timeline_set(&timeline, 5000, 10);
    assert_int_equal(timeline_at(&timeline, 10), 5000);
}

static void it_never_goes_back(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 1000);
    timeline_pass(&timeline, 900, 100);
    assert_int_equal(timeline_at(&timeline, 50), 1000);
    timeline_set(&timeline, 900, 100);
    assert_int_equal(timeline_at(&timeline, 100), 1000);
    timeline_pass(&timeline, 1300, 400);
    assert_int_equal(timeline_at(&timeline, 250), 1150);
    assert_int_equal(timeline_at(&timeline, 400), 1300);
    assert_int_equal(timeline_at(&timeline, 20),
                     1300); /* fewer instructions than at the beginning */
}

static void it_does_not_go_back_before_the_end_of_a_pause(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 1000);
    timeline_pause(&timeline, 5000, 10);
    timeline_set(&timeline, 4000, 10);
    assert_int_equal(timeline_at(&timeline, 10), 5000);
}

static void no_time_is_too_long(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, false, 1);
    timeline_pass(&timeline, UINT64_MAX, 1);
    timeline_at(&timeline, UINT64_MAX / 2);
    timeline_pass(&timeline, 0, UINT64_MAX);
    timeline_at(&timeline, UINT64_MAX);
}

static void instructions_count_where_they_are_the_clock(void **state)
{
    struct timeline timeline;
    timeline_begin(&timeline, true, 0);
    assert_int_not_equal(timeline_at(&timeline, 0), 0); /* which perf takes for none */
    uint64_t start = 777;
    timeline_begin(&timeline, true, start);
    assert_int_equal(timeline_at(&timeline, 0), start);
    timeline_pass(&timeline, 1 << 30, 10);
    assert_int_equal(timeline_at(&timeline, 10) - start, 10);
    timeline_set(&timeline, 1 << 30, 10);
    timeline_system_call(&timeline);
    assert_int_equal(timeline_at(&timeline, 10) - start, 1010);
    timeline_system_call(&timeline);
    assert_int_equal(timeline_at(&timeline, 30) - start, 2030);
    timeline_new_code(&timeline, 30);
    assert_int_equal(timeline_at(&timeline, 30) - start, 2031);
    assert_int_equal(timeline_at(&timeline, 32) - start, 2032);
    assert_int_equal(timeline.logged, 1 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_passes_evenly_with_the_instructions),
        cmocka_unit_test(an_unknown_end_comes_at_the_same_pace),
        cmocka_unit_test(an_unknown_beginning_comes_at_one_tick_per_instruction),
        cmocka_unit_test(it_jumps_where_it_is_set),
        cmocka_unit_test(it_never_goes_back),
        cmocka_unit_test(it_does_not_go_back_before_the_end_of_a_pause),
        cmocka_unit_test(no_time_is_too_long),
        cmocka_unit_test(instructions_count_where_they_are_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
