/* Slots are handed out least recently used first. */
#include "output/fxt/slot_recycler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void unused_slots_come_first(void **state)
{
    (void)state;
    struct slot_recycler recycler;
    slot_recycler_init(&recycler, 3);
    for (uint32_t slot = 1; slot <= 3; slot++) {
        assert_int_equal(slot_recycler_take(&recycler), slot);
        slot_recycler_touch(&recycler, 1);
    }
    slot_recycler_free(&recycler);
}

static void the_least_recently_used_slot_is_recycled(void **state)
{
    (void)state;
    struct slot_recycler recycler;
    slot_recycler_init(&recycler, 3);
    for (int i = 0; i < 3; i++)
        slot_recycler_take(&recycler);
    slot_recycler_touch(&recycler, 1); /* from oldest to newest: 2 3 1 */
    assert_int_equal(slot_recycler_take(&recycler), 2);
    slot_recycler_touch(&recycler, 3); /* 1 2 3 */
    slot_recycler_touch(&recycler, 3);
    slot_recycler_touch(&recycler, 2); /* 1 3 2 */
    assert_int_equal(slot_recycler_take(&recycler), 1);
    assert_int_equal(slot_recycler_take(&recycler), 3);
    assert_int_equal(slot_recycler_take(&recycler), 2);
    slot_recycler_free(&recycler);
}

static void one_slot_is_enough(void **state)
{
    (void)state;
    struct slot_recycler recycler;
    slot_recycler_init(&recycler, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(slot_recycler_take(&recycler), 1);
    slot_recycler_free(&recycler);
}

static void the_order_is_kept_before_slots_are_recycled(void **state)
{
    (void)state;
    enum { CAPACITY = 80, UNORDERED = 69 };
    struct slot_recycler recycler;
    slot_recycler_init(&recycler, CAPACITY);
    for (uint32_t slot = 1; slot <= UNORDERED; slot++)
        slot_recycler_take(&recycler);
    slot_recycler_touch(&recycler, 2); /* the order is not maintained yet */
    assert_false(slot_recycler_keeps_order(&recycler));
    slot_recycler_take(&recycler);
    assert_true(slot_recycler_keeps_order(&recycler));
    slot_recycler_touch(&recycler, 1);
    for (uint32_t slot = UNORDERED + 2; slot <= CAPACITY; slot++)
        slot_recycler_take(&recycler);
    assert_int_equal(slot_recycler_take(&recycler), 2);
    assert_int_equal(slot_recycler_take(&recycler), 3);
    slot_recycler_free(&recycler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_slots_come_first),
        cmocka_unit_test(the_least_recently_used_slot_is_recycled),
        cmocka_unit_test(one_slot_is_enough),
        cmocka_unit_test(the_order_is_kept_before_slots_are_recycled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
