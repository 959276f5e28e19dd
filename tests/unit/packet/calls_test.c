#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packet/callchain_snapshot.h"
#include "packet/calls.h"

enum { RING = 8, TOP = 0x8000 };

struct made {
    struct pt_call ring[RING];
    struct pt_calls calls;
    uint64_t count;
};

static void begin(struct made *made)
{
    *made = (struct made){.calls = {.mask = RING - 1, .all = true}};
    made->calls.ring = made->ring;
}

/* A call whose return address lies `below` bytes below TOP. */
static void push(struct made *made, uint64_t return_address, uint64_t below)
{
    *pt_calls_at(&made->calls, made->count++) = (struct pt_call){return_address, TOP - below};
}

static uint64_t return_address(const struct made *made, uint64_t number)
{
    return pt_calls_at(&made->calls, number)->return_address;
}

static void calls_are_over_when_the_pointer_is_above_their_slot(void **state)
{
    struct made made;
    begin(&made);
    push(&made, 0x100, 0x10);
    push(&made, 0x200, 0x20);
    push(&made, 0x300, 0x30);
    assert_int_equal(pt_calls_drop_dead(&made.calls, made.count, TOP - 0x30), 3);
    assert_int_equal(pt_calls_drop_dead(&made.calls, made.count, TOP - 0x28), 2);
    assert_int_equal(pt_calls_drop_dead(&made.calls, made.count, TOP), 0);
    assert_true(made.calls.all);
}

static void a_call_that_ended_unseen_under_a_newer_one_is_left_out(void **state)
{
    struct made made;
    begin(&made);
    push(&made, 0x100, 0x10);
    push(&made, 0x200, 0x40); /* over: its slot is below that of the next */
    push(&made, 0x300, 0x30);
    push(&made, 0x400, 0x30); /* the same slot, written later */
    assert_int_equal(pt_calls_drop_all_dead(&made.calls, made.count, TOP - 0x50), 4);
    assert_int_equal(made.calls.base, 2);
    assert_int_equal(return_address(&made, 3), 0x400);
    assert_int_equal(return_address(&made, 2), 0x100);
}

static void what_the_ring_has_no_room_for_is_not_all(void **state)
{
    struct made made;
    begin(&made);
    for (uint64_t i = 0; i < RING + 2; i++)
        push(&made, 0x100 + i, 0x10 * (i + 1));
    assert_int_equal(pt_calls_drop_dead(&made.calls, made.count, 0), RING + 2);
    assert_int_equal(made.calls.base, 2);
    assert_false(made.calls.all);
}

static void a_stack_is_the_same_up_to_its_outermost_call(void **state)
{
    struct made made;
    begin(&made);
    push(&made, 0x100, 0x10);
    push(&made, 0x200, 0x4000);
    uint64_t from = TOP - 0x5000;
    assert_true(pt_calls_same_stack(&made.calls, made.count, from, from - 0x100));
    assert_true(pt_calls_same_stack(&made.calls, made.count, from, TOP - 0x20));
    assert_false(pt_calls_same_stack(&made.calls, made.count, from, from - 0x1000));
    assert_false(pt_calls_same_stack(&made.calls, made.count, from, TOP + 0x1000));
}

static void recursion_takes_one_packet(void **state)
{
    struct made made;
    begin(&made);
    push(&made, 0x100, 0x10);
    for (uint64_t i = 1; i < 6; i++)
        push(&made, 0x200, 0x10 + 0x10 * i);
    push(&made, 0x100, 0x80);
    uint64_t outermost, left = made.count;
    assert_int_equal(pt_calls_count_packets(&made.calls, made.count, &outermost), 3);
    assert_int_equal(outermost, 0);
    assert_int_equal(pt_calls_next_packet(&made.calls, &left), 0x100);
    uint64_t repeated = pt_calls_next_packet(&made.calls, &left);
    assert_int_equal(repeated & CALLCHAIN_ADDRESS_MASK, 0x200);
    assert_int_equal(callchain_repeated(repeated), 4);
    assert_int_equal(pt_calls_next_packet(&made.calls, &left), 0x100);
    assert_int_equal(left, 0);
}

static void calls_that_are_over_are_dropped_with_those_left_out(void **state)
{
    struct made made;
    begin(&made);
    push(&made, 0x100, 0x10);
    push(&made, 0x200, 0x20);
    push(&made, 0x300, 0x30);
    assert_int_equal(pt_calls_drop_all_dead(&made.calls, made.count, TOP - 0x28), 2);
    assert_int_equal(made.calls.base, 0);
}

static void a_stack_without_known_calls_reaches_some_way_up(void **state)
{
    struct made made;
    begin(&made);
    assert_true(pt_calls_same_stack(&made.calls, 0, TOP, TOP + 0x1000));
    assert_false(pt_calls_same_stack(&made.calls, 0, TOP, TOP + 0x20000));
}

static void forgotten_calls_are_not_reported_with_those_that_are_the_same(void **state)
{
    struct made made;
    begin(&made);
    for (uint64_t i = 1; i < 5; i++)
        push(&made, 0x100, 0x10 * i);
    made.calls.base = 2;
    uint64_t outermost, left = made.count;
    assert_int_equal(pt_calls_count_packets(&made.calls, made.count, &outermost), 1);
    assert_int_equal(outermost, 2);
    assert_int_equal(callchain_repeated(pt_calls_next_packet(&made.calls, &left)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_over_when_the_pointer_is_above_their_slot),
        cmocka_unit_test(a_call_that_ended_unseen_under_a_newer_one_is_left_out),
        cmocka_unit_test(what_the_ring_has_no_room_for_is_not_all),
        cmocka_unit_test(a_stack_is_the_same_up_to_its_outermost_call),
        cmocka_unit_test(recursion_takes_one_packet),
        cmocka_unit_test(calls_that_are_over_are_dropped_with_those_left_out),
        cmocka_unit_test(a_stack_without_known_calls_reaches_some_way_up),
        cmocka_unit_test(forgotten_calls_are_not_reported_with_those_that_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
