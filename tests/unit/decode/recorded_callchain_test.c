/* Callchain snapshots, read from their packets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/pt/recorded_callchain.h"
#include "packet/callchain_snapshot.h"

static int set_up(void **state)
{
    static struct recorded_callchain callers;
    recorded_callchain_init(&callers);
    *state = &callers;
    return 0;
}

static int tear_down(void **state)
{
    recorded_callchain_free(*state);
    return 0;
}

static void a_list_is_whole_when_all_of_it_was_read(void **state)
{
    struct recorded_callchain *callers = *state;
    recorded_callchain_add(callers, callchain_header(2, true));
    assert_false(callers->whole);
    recorded_callchain_add(callers, 0x1000);
    assert_false(callers->whole);
    recorded_callchain_add(callers, 0x2000);
    assert_true(callers->whole);
    assert_true(callers->all);
    assert_int_equal(*(uint64_t *)array_at(&callers->addresses, 0), 0x1000);
    assert_int_equal(*(uint64_t *)array_at(&callers->addresses, 1), 0x2000);
}

static void an_empty_list_is_whole_at_once(void **state)
{
    struct recorded_callchain *callers = *state;
    recorded_callchain_add(callers, callchain_header(0, false));
    assert_true(callers->whole);
    assert_false(callers->all);
}

static void what_follows_a_list_does_not_belong_to_it(void **state)
{
    struct recorded_callchain *callers = *state;
    recorded_callchain_add(callers, callchain_header(1, true));
    recorded_callchain_add(callers, 0x1000);
    recorded_callchain_add(callers, 0x2000);
    assert_true(callers->whole);
    assert_int_equal(callers->addresses.count, 1);
}

static void a_new_list_takes_the_place_of_the_one_before(void **state)
{
    struct recorded_callchain *callers = *state;
    recorded_callchain_add(callers, callchain_header(2, true));
    recorded_callchain_add(callers, 0x1000);
    recorded_callchain_add(callers, callchain_header(2, false));
    assert_int_equal(callers->addresses.count, 0);
    recorded_callchain_add(callers, 0x3000);
    assert_false(callers->whole);
}

static void a_list_may_belong_to_another_place(void **state)
{
    struct recorded_callchain *callers = *state;
    recorded_callchain_add(callers, callchain_header(1, true) | CALLCHAIN_PLACED);
    assert_true(callers->placed);
    assert_int_equal(callers->expected, 1);
    recorded_callchain_add(callers, 0x1000);
    assert_true(callers->whole);
    recorded_callchain_forget(callers);
    assert_false(callers->placed);
}

static void nothing_is_left_of_a_list_that_was_forgotten(void **state)
{
    struct recorded_callchain *callers = *state;
    recorded_callchain_add(callers, callchain_header(2, true));
    recorded_callchain_add(callers, 0x1000);
    recorded_callchain_add(callers, 0x2000);
    recorded_callchain_forget(callers);
    assert_false(callers->whole);
    recorded_callchain_add(callers, 0x3000);
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
        TEST(a_list_may_belong_to_another_place),
        TEST(nothing_is_left_of_a_list_that_was_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
