/* OCaml's exceptions (ocaml_traps.h): b sets up handlers at b80. The notation of spans is explained
 * in scene.h. */
#include "scene.h"

#include "stack/rules/context_rewrites.h"
#include "stack/rules/ocaml_traps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void call_with_trap(struct scene *s, uint64_t from)
{
    call(s, from, 'b');
    push_trap(s, at('b', 0x80));
}

static void a_raise_lands_in_the_frame_that_set_up_the_handler(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call(s, at('b', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0x80));
    assert_int_equal(s->stack.statistics.unwound, 1);
    assert_int_equal(s->stack.rules.ocaml_traps->traps.count, 0);
    assert_spans(s, "a(b(b(c()u)u)$)$");
}

static void a_raise_can_be_a_return(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call(s, at('b', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    return_to(s, at('b', 0x80));
    assert_spans(s, "a(b(b(c()u)u)$)$");
}

static void a_handler_handles_one_exception(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call_with_trap(s, at('b', 0x10));
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0x80));
    call(s, at('b', 0x20), 'd');
    jump(s, at('b', 0x80));
    assert_spans(s, "a(b(b(c()ud()u)u)$)$");
}

static void a_handler_that_was_given_up_handles_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call_with_trap(s, at('b', 0x10));
    pop_trap(s);
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0x80));
    assert_spans(s, "a(b(b(c()u)u)$)$");
}

/* That handler is older than the recording. */
static void a_function_gives_up_no_handler_of_another(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call(s, at('b', 0x10), 'b');
    pop_trap(s);
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0x80));
    assert_spans(s, "a(b(b(c()u)u)$)$");
}

static void what_has_returned_handles_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call(s, at('b', 0x10), 'd');
    push_trap(s, at('d', 0x80));
    return_after(s, at('b', 0x10));
    call(s, at('b', 0x20), 'b');
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0x80));
    assert_spans(s, "a(b(d()b(c()u)u)$)$");
}

static void a_jump_elsewhere_is_no_raise(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0x70));
    assert_int_equal(s->stack.rules.ocaml_traps->traps.count, 1);
    assert_spans(s, "a(b(c()u)$)$");
}

static void a_raise_in_the_frame_itself_ends_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    jump_in_stack(s, at('b', 0x80));
    assert_int_equal(s->stack.rules.ocaml_traps->traps.count, 0);
    assert_int_equal(s->stack.statistics.unwound, 0);
    assert_spans(s, "a(b()$)$");
}

static void a_raise_out_of_a_signal_handler_shows_that_it_ran_on_top(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_with_trap(s, at('a', 0x10));
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    jump(s, at('b', 0x80));
    assert_int_equal(s->stack.rules.context_rewrites->run_on_top.count, 1);
    assert_spans(s, "a(b(I()h()u)$)$");
}

static void a_handler_set_up_where_nothing_is_known_is_ignored(void **state)
{
    struct scene *s = *state;
    push_trap(s, at('b', 0x80));
    assert_int_equal(s->stack.rules.ocaml_traps->traps.count, 0);
    resume(s, at('a', 0));
    pop_trap(s);
    assert_spans(s, "a?()$");
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_raise_lands_in_the_frame_that_set_up_the_handler),
        RULE(a_raise_can_be_a_return),
        RULE(a_handler_handles_one_exception),
        RULE(a_handler_that_was_given_up_handles_nothing),
        RULE(a_function_gives_up_no_handler_of_another),
        RULE(what_has_returned_handles_nothing),
        RULE(a_jump_elsewhere_is_no_raise),
        RULE(a_raise_in_the_frame_itself_ends_nothing),
        RULE(a_raise_out_of_a_signal_handler_shows_that_it_ran_on_top),
        RULE(a_handler_set_up_where_nothing_is_known_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
