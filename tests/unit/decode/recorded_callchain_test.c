/* Lists of callers, read from the packets that tell them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/pt/recorded_callchain.h"
#include "packet/callchain_snapshot.h"

static int set_up(void **state)
{
    static struct told_callers callers;
    told_callers_init(&callers);
    *state = &callers;
    return 0;
}

static int tear_down(void **state)
{
    told_callers_free(*state);
    return 0;
}

static void a_list_is_whole_when_all_of_it_was_read(void **state)
{
    struct told_callers *callers = *state;
    told_callers_add(callers, told_calls_header(2, true));
    assert_false(callers->whole);
    told_callers_add(callers, 0x1000);
    assert_false(callers->whole);
    told_callers_add(callers, 0x2000);
    assert_true(callers->whole);
    assert_true(callers->all);
    assert_int_equal(*(uint64_t *)array_at(&callers->addresses, 0), 0x1000);
    assert_int_equal(*(uint64_t *)array_at(&callers->addresses, 1), 0x2000);
}

static void an_empty_list_is_whole_at_once(void **state)
{
    struct told_callers *callers = *state;
    told_callers_add(callers, told_calls_header(0, false));
    assert_true(callers->whole);
    assert_false(callers->all);
}

static void what_follows_a_list_does_not_belong_to_it(void **state)
{
    struct told_callers *callers = *state;
    told_callers_add(callers, told_calls_header(1, true));
    told_callers_add(callers, 0x1000);
    told_callers_add(callers, 0x2000);
    assert_true(callers->whole);
    assert_int_equal(callers->addresses.count, 1);
}

static void a_new_list_takes_the_place_of_the_one_before(void **state)
{
    struct told_callers *callers = *state;
    told_callers_add(callers, told_calls_header(2, true));
    told_callers_add(callers, 0x1000);
    told_callers_add(callers, told_calls_header(2, false));
    assert_int_equal(callers->addresses.count, 0);
    told_callers_add(callers, 0x3000);
    assert_false(callers->whole);
}

static void nothing_is_left_of_a_list_that_was_forgotten(void **state)
{
    struct told_callers *callers = *state;
    told_callers_add(callers, told_calls_header(2, true));
    told_callers_add(callers, 0x1000);
    told_callers_add(callers, 0x2000);
    told_callers_forget(callers);
    assert_false(callers->whole);
    told_callers_add(callers, 0x3000);
    assert_int_equal(callers->addresses.count, 0);
    assert_false(callers->whole);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_list_is_whole_when_all_of_it_was_read),
        TEST(an_empty_list_is_whole_at_once),
        TEST(what_follows_a_list_does_not_belong_to_it),
        TEST(a_new_list_takes_the_place_of_the_one_before),
        TEST(nothing_is_left_of_a_list_that_was_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
