/* Goroutines that continue in another thread. Three threads; see goroutines_test.c for the functions.
 */
#include "scene.h"
#include "stack/migrated_stacks.h"
#include "stack/stack_moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Stack pointers: of the threads' own stacks, and of a goroutine in mcall. */
enum { G0 = 0x1000, A = 0x2000, B = 0x4000 };

static struct scene left, right, third;

static void begin_thread(struct scene *s)
{
    scene_init(s);
    s->go_roles[id_of('g')] = GO_ROLE_GOGO;
    s->go_roles[id_of('m')] = GO_ROLE_WAIT;
    s->go_roles[id_of('t')] = GO_ROLE_WAIT;
    resume(s, at('t', 0));
    call(s, at('t', 0x10), 's');
    call(s, at('s', 0x10), 'g');
}

static int set_up(void **state)
{
    begin_thread(&left);
    begin_thread(&right);
    begin_thread(&third);
    return 0;
}

static int tear_down(void **state)
{
    scene_free(&left);
    scene_free(&right);
    scene_free(&third);
    return 0;
}

/* `function` calls mcall at `offset`, where the stack pointer is `pointer`. */
static void leave(struct scene *s, char function, uint64_t offset, uint64_t pointer)
{
    call(s, at(function, offset), 'm');
    stack_pointer(s, pointer);
    stack_pointer(s, G0);
    call(s, at('m', 0x10), 's');
}

static void go_on(struct scene *s, char function, uint64_t offset, uint64_t pointer)
{
    stack_pointer(s, G0 - 0x100);
    jump_loading_stack(s, at(function, offset) + SCENE_CALL_LENGTH, pointer + 8);
}

static void begin_goroutine(struct scene *s, uint64_t to)
{
    stack_pointer(s, G0 - 0x100);
    jump_loading_stack(s, to, A + 0x100);
}

static void migrate(void)
{
    struct thread_stack *stacks[] = {&left.stack, &right.stack, &third.stack};
    follow_end(&left.stack, &(struct follow_ending){0});
    follow_end(&right.stack, &(struct follow_ending){0});
    follow_end(&third.stack, &(struct follow_ending){0});
    uint32_t numbers = 0;
    migrated_stacks_join(stacks, 3, &numbers);
}

/* The number of the only goroutine that continues. */
static uint32_t shared_number(const struct scene *s)
{
    const struct shared_stack *shared = s->stack.shared.elements;
    assert_int_not_equal(s->stack.shared.count, 0);
    for (size_t i = 1; i < s->stack.shared.count; i++)
        assert_int_equal(shared[i].number, shared[0].number);
    return shared[0].number;
}

static void callers_come_along(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'b');
    call(&left, at('b', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    return_after(&right, at('b', 0x10));
    call(&right, at('b', 0x20), 'd');
    migrate();
    assert_spans_of_ended(&left, "t(s(g()))sa(b(c(m(s()$)$)$)$)$");
    assert_spans_of_ended(&right, "t(s(g()))sa?(b?(c?()d()$)$)$");
    assert_int_equal(shared_number(&left), SHARED_STACKS);
    assert_int_equal(shared_number(&right), SHARED_STACKS);
}

static void callers_that_are_seen_later_are_those_of_before(void **state)
{
    begin_goroutine(&left, at('b', 0x50)); /* begun before the trace */
    leave(&left, 'b', 0x60, A);
    right.time = left.time;
    go_on(&right, 'b', 0x60, A);
    return_to(&right, at('a', 0x15));
    migrate();
    assert_spans_of_ended(&left, "t(s(g()))sa?(b?(m(s()$)$)$)$");
    assert_spans_of_ended(&right, "t(s(g()))sa?(b?())$");
}

static void a_goroutine_comes_from_where_it_was_last(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    call(&left, at('s', 0x10), 'g');
    begin_goroutine(&left, at('b', 0)); /* in the same place */
    call(&left, at('b', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sb?(c?()$)$");
}

static void a_goroutine_does_not_come_from_where_it_will_be(void **state)
{
    go_on(&right, 'c', 0x10, A);
    left.time = right.time;
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sc?()$");
}

static void stacks_that_do_not_agree_stay_apart(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    return_to(&right, at('b', 0x15));
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sb?(c?())$");
    assert_int_equal(left.stack.shared.count, 0);
    assert_int_equal(right.stack.shared.count, 0);
}

static void another_pointer_is_another_goroutine(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    right.time = left.time;
    go_on(&right, 'c', 0x10, B);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sc?()$");
}

static void callers_beyond_one_that_differs_are_not_migrated(void **state)
{
    begin_goroutine(&left, at('z', 0));
    call(&left, at('z', 0x10), 'a');
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    return_to(&right, at('b', 0x15));
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sb?(c?())$");
}

static void of_several_goroutines_the_pointer_decides_which_continues(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, B);
    call(&left, at('s', 0x10), 'g');
    begin_goroutine(&left, at('b', 0));
    call(&left, at('b', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    right.time = left.time;
    go_on(&right, 'c', 0x10, B);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sa?(c?()$)$");
}

/* It is left there and comes back with the same stack pointer, but has other callers now. */
static void a_goroutine_that_comes_back_has_the_callers_of_where_it_was_last(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'b');
    call(&left, at('b', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    call(&left, at('s', 0x10), 'g');
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    return_after(&right, at('b', 0x10));
    return_after(&right, at('a', 0x10));
    call(&right, at('a', 0x20), 'd');
    call(&right, at('d', 0x10), 'c');
    leave(&right, 'c', 0x10, A);
    left.time = right.time;
    go_on(&left, 'c', 0x10, A);
    return_after(&left, at('d', 0x10));
    call(&left, at('d', 0x20), 'e');
    migrate();
    assert_int_equal(left.stack.statistics.repaired, 0);
    assert_spans_of_ended(&left, "t(s(g()))sa(b(c(m(s(g()))s)s)s)sa?(d?(c?()e()$)$)$");
    assert_spans_of_ended(&right, "t(s(g()))sa?(b?(c?())d(c(m(s()$)$)$)$)$");
}

/* Likewise, though nothing that it returns to shows it. */
static void a_goroutine_that_comes_back_unnoticed_has_the_callers_of_where_it_was_last(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    call(&left, at('s', 0x10), 'g');
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    return_after(&right, at('a', 0x10));
    call(&right, at('a', 0x20), 'd');
    call(&right, at('d', 0x10), 'c');
    leave(&right, 'c', 0x10, A);
    left.time = right.time;
    go_on(&left, 'c', 0x10, A);
    migrate();
    assert_spans_of_ended(&left, "t(s(g()))sa(c(m(s(g()))s)s)sa?(d?(c?()$)$)$");
    assert_int_equal(shared_number(&left), SHARED_STACKS);
    assert_int_equal(shared_number(&right), SHARED_STACKS);
}

/* The left thread loses its processor when it has left the goroutine; its pause was placed before that. */
static void a_goroutine_that_seems_to_leave_after_it_has_arrived_comes_from_there(void **state)
{
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    right.time = left.time + 100;
    left.time += 1000;
    leave(&left, 'c', 0x10, A);
    go_on(&right, 'c', 0x10, A);
    call(&right, at('c', 0x20), 'd');
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sa?(c?(d()$)$)$");
}

/* `function` waits and goes on several times. */
static void wait_often(struct scene *s, char function, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        leave(s, function, 0x10, A);
        call(s, at('s', 0x10), 'g');
        go_on(s, function, 0x10, A);
    }
}

/* The recording's clock stands still: only by turns can both have run it. */
static void what_has_one_time_happens_by_turns(void **state)
{
    enum { NOW = 5000 };
    begin_goroutine(&right, at('a', 0));
    call(&right, at('a', 0x10), 'c');
    leave(&right, 'c', 0x10, A);
    call(&right, at('s', 0x10), 'g');
    stack_moves_advance(&left.stack, (struct ticks){NOW});
    stack_moves_advance(&right.stack, (struct ticks){NOW});
    go_on(&left, 'c', 0x10, A);
    wait_often(&left, 'c', 2);
    return_after(&left, at('a', 0x10));
    call(&left, at('a', 0x20), 'd');
    leave(&left, 'd', 0x10, B);
    go_on(&right, 'c', 0x10, A);
    leave(&right, 'c', 0x10, A);
    migrate();
    const struct shared_stack *numbers = right.stack.shared.elements;
    assert_int_equal(right.stack.shared.count, 2);
    assert_int_equal(numbers[0].number, numbers[1].number);
}

/* The newest one that was left there has other callers, and is for another arrival. */
static void a_departure_with_other_callers_is_left_for_others(void **state)
{
    begin_goroutine(&right, at('b', 0));
    call(&right, at('b', 0x10), 'c');
    leave(&right, 'c', 0x10, A);
    call(&right, at('s', 0x10), 'g');
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    uint64_t arrival = right.time + 100;
    left.time = arrival + 1000;
    leave(&left, 'c', 0x10, A);
    right.time = arrival;
    go_on(&right, 'c', 0x10, A);
    return_after(&right, at('a', 0x10));
    third.time = left.time + 1000;
    go_on(&third, 'c', 0x10, A);
    migrate();
    assert_spans_of_ended(&third, "t(s(g()))sb?(c?()$)$");
}

/* But not if it had been left again by then. */
static void a_goroutine_does_not_come_from_where_it_went_on_to_later(void **state)
{
    go_on(&right, 'c', 0x10, A);
    leave(&right, 'c', 0x20, A);
    left.time = right.time + 100;
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'b');
    leave(&left, 'b', 0x10, B);
    call(&left, at('s', 0x10), 'g');
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    leave(&left, 'c', 0x10, A);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sc?(m(s()$)$)$");
}

/* Its outermost caller is discovered in a third part of its way. */
static void callers_that_are_seen_at_last_are_those_of_all_parts(void **state)
{
    begin_goroutine(&left, at('b', 0x50)); /* begun before the trace */
    leave(&left, 'b', 0x60, A);
    call(&left, at('s', 0x10), 'g');
    right.time = left.time;
    go_on(&right, 'b', 0x60, A);
    leave(&right, 'b', 0x70, A);
    left.time = right.time;
    go_on(&left, 'b', 0x70, A);
    return_to(&left, at('a', 0x15));
    migrate();
    assert_spans_of_ended(&left, "t(s(g()))sa?(b?(m(s(g()))s)s)sa?(b?())$");
    assert_spans_of_ended(&right, "t(s(g()))sa?(b?(m(s()$)$)$)$");
}

static void a_goroutine_that_ends_is_not_the_next_one_with_its_stack(void **state)
{
    left.go_roles[id_of('e')] = GO_ROLE_GOEXIT;
    begin_goroutine(&left, at('a', 0));
    call(&left, at('a', 0x10), 'c');
    call(&left, at('c', 0x10), 'm');
    stack_pointer(&left, A);
    stack_pointer(&left, G0);
    call(&left, at('m', 0x10), 'e');
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sc?()$");
}

/* It recovers from a panic in a caller that only the other thread has seen. */
static void a_panic_is_recovered_in_a_caller_that_another_thread_has_seen(void **state)
{
    right.go_roles[id_of('y')] = GO_ROLE_RECOVERY;
    begin_goroutine(&left, at('x', 0));
    call(&left, at('x', 0x10), 'a');
    call(&left, at('a', 0x20), 'c');
    leave(&left, 'c', 0x10, A);
    call(&left, at('s', 0x10), 'g');
    right.time = left.time;
    go_on(&right, 'c', 0x10, A);
    call(&right, at('c', 0x50), 'm');
    stack_pointer(&right, A - 0x80);
    stack_pointer(&right, G0);
    call(&right, at('m', 0x10), 'y');
    call(&right, at('y', 0x10), 'g');
    go_on(&right, 'a', 0x10, A + 0x80);
    call(&right, at('a', 0x30), 'd');
    return_after(&right, at('a', 0x30));
    leave(&right, 'a', 0x40, A + 0x80);
    left.time = right.time;
    go_on(&left, 'a', 0x40, A + 0x80);
    migrate();
    assert_spans_of_ended(&right, "t(s(g()))sx?(a?(c?(m(y(g()))u)ud()m(s()$)$)$)$");
    assert_spans_of_ended(&left, "t(s(g()))sx(a(c(m(s(g()))s)s)s)sx?(a?()$)$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(callers_come_along),
        TEST(callers_that_are_seen_later_are_those_of_before),
        TEST(a_goroutine_comes_from_where_it_was_last),
        TEST(a_goroutine_does_not_come_from_where_it_will_be),
        TEST(stacks_that_do_not_agree_stay_apart),
        TEST(another_pointer_is_another_goroutine),
        TEST(callers_beyond_one_that_differs_are_not_migrated),
        TEST(a_goroutine_that_comes_back_has_the_callers_of_where_it_was_last),
        TEST(a_goroutine_that_comes_back_unnoticed_has_the_callers_of_where_it_was_last),
        TEST(a_goroutine_that_seems_to_leave_after_it_has_arrived_comes_from_there),
        TEST(what_has_one_time_happens_by_turns),
        TEST(a_departure_with_other_callers_is_left_for_others),
        TEST(a_goroutine_does_not_come_from_where_it_went_on_to_later),
        TEST(a_panic_is_recovered_in_a_caller_that_another_thread_has_seen),
        TEST(callers_that_are_seen_at_last_are_those_of_all_parts),
        TEST(a_goroutine_that_ends_is_not_the_next_one_with_its_stack),
        TEST(of_several_goroutines_the_pointer_decides_which_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
