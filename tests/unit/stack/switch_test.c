/* Several stacks in one thread (stack_switch.h), without recorded stack pointers. The function `s`
 * switches: it is called, and continues where another stack has called it.
 */
#include "scene.h"

#include "stack/rules/stack_switch.h"

#include "stack/follow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_suspended_stack_continues_where_it_called(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    return_after(s, at('f', 0x10));
    assert_spans(s, "a(s()s)sf(s()s)sa?(s()s)sf?()$");
}

/* More addresses than suspended_addresses has counters: no stack is lost, none is resumed twice. */
static void a_thousand_suspended_stacks_continue(void **state)
{
    enum { STACKS = 1000 };
    struct scene *s = *state;
    uint64_t goes_on[STACKS];
    resume(s, at('a', 0));
    for (int i = 0; i < STACKS; i++) {
        char function = (char)('b' + i % 10);
        goes_on[i] = at(function, 0x10 + (uint64_t)(i / 10) * 8);
        call(s, i == 0 ? at('a', 0x10) : goes_on[i - 1], 's');
        return_to(s, at(function, 0));
    }
    call(s, goes_on[STACKS - 1], 's');
    for (int i = 0; i < STACKS - 1; i++) {
        return_after(s, goes_on[i]);
        assert_int_equal(suspended_stacks_list(&s->stack)->count, STACKS);
        call(s, goes_on[i] + 0x800, 's');
    }
    assert_int_equal(s->stack.segments.count, STACKS + 1);
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void later_returns_decide_which_of_two_stacks_continues(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_after(s, at('y', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(y(s()s)s)sf(y(s()s)s)sa?(y?())$");
}

static void a_jump_can_switch_too(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    jump(s, at('a', 0x15));
    assert_spans(s, "a(s()s)sf(s()s)sa?()$");
}

static void the_first_function_of_a_new_stack_may_return_to_a_function_start(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    return_to(s, at('g', 0)); /* as makecontext has laid it out */
    assert_spans(s, "a(s()s)sg?(f())$");
}

static void the_function_that_began_a_stack_is_not_its_first(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    return_after(s, at('a', 0x10));
    return_to(s, at('g', 0));
    assert_spans(s, "a(s()s)sf(s()s)sa?()tg()$");
}

static void
a_return_to_the_start_of_the_function_that_began_a_stack_is_no_return_to_it(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    return_to(s, at('c', 0));
    return_to(s, at('b', 0));
    assert_spans(s, "a(b()s)sb?(c())$");
}

static void unknown_code_that_began_a_stack_is_not_known_again(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_into(s, at('a', 0x10), 0x100);
    return_to(s, at('c', 0));
    return_to(s, 0x150);
    assert_spans(s, "a(?()s)s?\?(c())$");
}

static void what_turns_out_to_be_no_stack_leaves_the_others_alone(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 'b');
    return_to(s, at('c', 0)); /* b waits, as far as is known */
    call(s, at('c', 0x10), 's');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    return_after(s, at('c', 0x10));
    return_to(s, at('b', 0x50));
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
    call(s, at('b', 0x60), 's');
    return_after(s, at('a', 0x20));
    assert_spans(s, "a(s()s)sf(b()tc(s()s)s)sa?(s()s)sf?(c?()tb(s()s)s)sa?()$");
}

/* The greatest number of stacks is suspended: one more is added, and the oldest is not dropped for
 * it. */
static void the_oldest_suspended_stack_can_continue(void **state)
{
    enum { REMEMBERED = 1024 };
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    for (uint64_t i = 0; i < REMEMBERED; i++) {
        char function = (char)('b' + i % 10);
        return_to(s, at(function, 0));
        call(s, at(function, 0x20 + i * 8), 's');
    }
    assert_int_equal(suspended_stacks_list(&s->stack)->count, REMEMBERED);
    return_after(s, at('a', 0x10));
    assert_int_equal(suspended_stacks_list(&s->stack)->count, REMEMBERED);
    assert_int_equal(s->stack.segments.count, REMEMBERED + 1);
    assert_int_equal(thread_stack_leaf(&s->stack)->function, id_of('a'));
}

/* Begins a stack with `function`, which calls y from `site`, and that waits. */
static void begin_waiting(struct scene *s, char function, uint64_t site)
{
    return_to(s, at(function, 0));
    call(s, site, 'y');
    call(s, at('y', 0x10), 's');
}

static void of_two_that_fit_none_is_chosen(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    begin_waiting(s, 'f', at('f', 0x10));
    begin_waiting(s, 'g', at('g', 0x10));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    return_after(s, at('y', 0x10)); /* f's or g's */
    call(s, at('y', 0x20), 's');
    return_after(s, at('a', 0x20));
    assert_spans(s, "a(s()s)sf(y(s()s)s)sg(y(s()s)s)sa?(s()s)sy?(s()s)sa?()$");
}

static void the_callers_that_all_have_are_known(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 'w');
    call(s, at('w', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_to(s, at('g', 0));
    call(s, at('g', 0x10), 'w');
    call(s, at('w', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    return_after(s, at('y', 0x10));
    call(s, at('y', 0x20), 's');
    return_after(s, at('a', 0x20));
    assert_spans(s, "a(s()s)sf(w(y(s()s)s)s)sg(w(y(s()s)s)s)sa?(s()s)sw?(y?(s()s)s)sa?()$");
}

static void of_stacks_that_are_alike_one_is_chosen(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    begin_waiting(s, 'f', at('f', 0x10));
    begin_waiting(s, 'f', at('f', 0x10));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    return_after(s, at('y', 0x10));
    call(s, at('y', 0x20), 's');
    return_after(s, at('a', 0x20));
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 2);
    assert_spans(s, "a(s()s)sf(y(s()s)s)sf(y(s()s)s)sa?(s()s)sf?(y?(s()s)s)sa?()$");
}

/* A stack was dropped from the list that waits where another one of the list does. */
static void where_a_stack_was_dropped_the_callers_are_unknown(void **state)
{
    enum { REMEMBERED = 1024 };
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    begin_waiting(s, 'f', at('f', 0x10));
    for (uint64_t i = 0; i < REMEMBERED; i++) {
        return_to(s, at('c', 0));
        call(s, at('c', 0x20 + i * 8), 's');
    }
    begin_waiting(s, 'g', at('g', 0x10));
    return_to(s, at('h', 0));
    call(s, at('h', 0x10), 's');
    return_after(s, at('y', 0x10));
    assert_stack(s, "y");
}

static void a_function_that_ends_by_switching_was_called_by_nobody(void **state)
{
    struct scene *s = *state;
    s->switches = "s";
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    direct_jump(s, at('s', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(s()s)sf()ts()sa?()$");
}

static void a_function_that_ends_by_switching_to_a_new_stack_was_not_called_by_that(void **state)
{
    struct scene *s = *state;
    s->switches = "s";
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    direct_jump(s, at('s', 0));
    return_to(s, at('g', 0));
    call(s, at('g', 0x10), 's');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(s()s)sf()ts()sg(s()s)sa?()$");
}

static void a_function_on_top_of_a_stack_returns_to_it(void **state)
{
    struct scene *s = *state;
    s->switches = "s";
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    jump_in_stack(s, at('t', 0)); /* on top of a's */
    return_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(s()s)s)sf(s()s)sa?(b?(t()))$");
}

static void a_new_stack_may_begin_with_a_function_that_is_active(void **state)
{
    struct scene *s = *state;
    s->switches = "s";
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'f');
    call(s, at('f', 0x10), 's');
    jump_in_stack(s, at('f', 0));
    call(s, at('f', 0x20), 's');
    jump_in_stack(s, at('f', 0x15));
    assert_spans(s, "a(f(s()s)s)sf(s()s)sa?(f?()$)$");
}

static void a_stack_may_begin_in_code_without_a_name_of_its_own(void **state)
{
    struct scene *s = *state;
    s->switches = "s";
    s->pushed = at('s', 0x80); /* no call ends there */
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    jump_in_stack(s, at('s', 0x80));
    call(s, at('s', 0x90), 'f');
    assert_stack(s, "fs");
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

/* Where stacks are suspended and resumed: "-A" and "+A", by letters in the order of their first
 * appearance.
 */
static void assert_stacks(struct scene *s, const char *expected)
{
    char got[64] = "";
    size_t length = 0, known = 0;
    uint32_t stacks[8];
    follow_end(&s->stack, &(struct follow_ending){0});
    struct replay replay;
    struct replay_event event;
    replay_init(&replay, &s->stack);
    while (replay_next(&replay, &event)) {
        if (event.stack == 0)
            continue;
        size_t index = 0;
        while (index < known && stacks[index] != event.stack)
            index++;
        if (index == known)
            stacks[known++] = event.stack;
        got[length++] = event.kind == SPAN_ENTER ? '+' : '-';
        got[length++] = (char)('A' + index);
    }
    replay_free(&replay);
    assert_string_equal(got, expected);
}

static void a_stack_is_known_again(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    return_after(s, at('f', 0x10));
    /* What ends next suspends no stack. */
    call(s, at('f', 0x20), 'c');
    return_after(s, at('f', 0x20));
    assert_stacks(s, "-A-B+A-A+B");
}

static void two_that_fit_are_distinguished_by_what_follows(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_after(s, at('y', 0x10));
    return_after(s, at('a', 0x10));
    assert_stacks(s, "-A-B+A");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_suspended_stack_continues_where_it_called),
        RULE(a_stack_is_known_again),
        RULE(two_that_fit_are_distinguished_by_what_follows),
        RULE(a_thousand_suspended_stacks_continue),
        RULE(the_oldest_suspended_stack_can_continue),
        RULE(later_returns_decide_which_of_two_stacks_continues),
        RULE(a_jump_can_switch_too),
        RULE(the_first_function_of_a_new_stack_may_return_to_a_function_start),
        RULE(the_function_that_began_a_stack_is_not_its_first),
        RULE(a_return_to_the_start_of_the_function_that_began_a_stack_is_no_return_to_it),
        RULE(unknown_code_that_began_a_stack_is_not_known_again),
        RULE(what_turns_out_to_be_no_stack_leaves_the_others_alone),
        RULE(of_two_that_fit_none_is_chosen),
        RULE(the_callers_that_all_have_are_known),
        RULE(of_stacks_that_are_alike_one_is_chosen),
        RULE(where_a_stack_was_dropped_the_callers_are_unknown),
        RULE(a_function_that_ends_by_switching_was_called_by_nobody),
        RULE(a_function_that_ends_by_switching_to_a_new_stack_was_not_called_by_that),
        RULE(a_function_on_top_of_a_stack_returns_to_it),
        RULE(a_new_stack_may_begin_with_a_function_that_is_active),
        RULE(a_stack_may_begin_in_code_without_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
