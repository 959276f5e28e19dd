/* What usually comes with a pair of keys. */
#include "base/usual_numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void another_number_is_unusual_once_one_has_come_often(void **state)
{
    struct array numbers = usual_numbers_none();
    assert_true(usual_numbers_see(&numbers, 1, 2, 24));
    assert_true(usual_numbers_see(&numbers, 1, 2, 99));
    for (int i = 0; i < 5; i++)
        assert_true(usual_numbers_see(&numbers, 1, 2, 24));
    assert_false(usual_numbers_see(&numbers, 1, 2, 99));
    assert_true(usual_numbers_see(&numbers, 1, 2, 24));
    array_free(&numbers);
}

static void a_number_is_sure_once_it_has_come_often(void **state)
{
    struct array numbers = usual_numbers_none();
    assert_false(usual_numbers_is_sure(&numbers, 1, 2, 24));
    usual_numbers_see(&numbers, 1, 2, 24);
    assert_false(usual_numbers_is_sure(&numbers, 1, 2, 24));
    for (int i = 0; i < 4; i++)
        usual_numbers_see(&numbers, 1, 2, 24);
    assert_true(usual_numbers_is_sure(&numbers, 1, 2, 24));
    assert_false(usual_numbers_is_sure(&numbers, 1, 2, 99));
    assert_false(usual_numbers_is_sure(&numbers, 2, 1, 24));
    array_free(&numbers);
}

static void pairs_are_learned_apart(void **state)
{
    struct array numbers = usual_numbers_none();
    for (int i = 0; i < 5; i++)
        usual_numbers_see(&numbers, 1, 2, 24);
    assert_true(usual_numbers_see(&numbers, 2, 1, 99));
    assert_false(usual_numbers_see(&numbers, 1, 2, 99));
    array_free(&numbers);
}

static void a_number_that_changes_is_followed_before_it_is_sure(void **state)
{
    struct array numbers = usual_numbers_none();
    usual_numbers_see(&numbers, 1, 2, 24);
    for (int i = 0; i < 6; i++)
        assert_true(usual_numbers_see(&numbers, 1, 2, 32));
    assert_false(usual_numbers_see(&numbers, 1, 2, 24));
    array_free(&numbers);
}

static void many_pairs_are_forgotten_together(void **state)
{
    struct array numbers = usual_numbers_none();
    for (int i = 0; i < 5; i++)
        usual_numbers_see(&numbers, 0, 0, 24);
    for (uint64_t pair = 1; pair <= 64; pair++)
        usual_numbers_see(&numbers, pair, 0, 24);
    assert_true(numbers.count <= 64);
    assert_true(usual_numbers_see(&numbers, 0, 0, 99));
    array_free(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_number_is_unusual_once_one_has_come_often),
        cmocka_unit_test(a_number_is_sure_once_it_has_come_often),
        cmocka_unit_test(pairs_are_learned_apart),
        cmocka_unit_test(a_number_that_changes_is_followed_before_it_is_sure),
        cmocka_unit_test(many_pairs_are_forgotten_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
