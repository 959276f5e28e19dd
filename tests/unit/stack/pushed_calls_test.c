/* JIT code that calls without CALL (pushed_calls.c): i is an interpreter, whose entry for results is at i80, m and n are
 * methods. The notation of spans is explained in scene.h. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int set_up(void **state)
{
    static struct scene scene;
    scene_init(&scene);
    scene.jit_code = "imn";
    scene.pushed = at('i', 0x80);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    scene_free(*state);
    return 0;
}

static void a_compiled_method_returns_to_the_interpreter(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'i');
    jump(s, at('m', 0));
    call(s, at('m', 0x10), 'b');
    return_after(s, at('m', 0x10));
    return_to(s, at('i', 0x80));
    jump(s, at('n', 0));
    return_to(s, at('i', 0x80));
    return_after(s, at('a', 0x10));
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_spans(s, "a(i()tm(b())ti()tn()ti())$");
}

/* Others that are active further out do not count. */
static void an_interpreted_method_returns_within_its_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'i');
    call(s, at('i', 0x10), 'm');
    call(s, at('m', 0x10), 'i');
    jump_in_stack(s, at('i', 0x80));
    return_after(s, at('m', 0x10));
    return_after(s, at('i', 0x10));
    return_after(s, at('a', 0x10));
    assert_int_equal(s->stack.segments.count, 1);
    assert_spans(s, "a(i(m(i())))$");
}

/* ... and one whose callers are unknown, because the recording begins in it, has no more of them by such returns. */
static void no_caller_is_discovered(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0x20));
    return_to(s, at('i', 0x80));
    jump(s, at('n', 0));
    return_to(s, at('i', 0x80));
    return_to(s, at('b', 0x20));
    assert_spans(s, "b?(m?()ti()tn()ti())$");
}

static void where_a_call_may_end_a_caller_is_discovered(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0x20));
    return_to(s, at('n', 0x80));
    assert_spans(s, "n?(m?())$");
}

static void code_of_files_returns_by_the_other_rules(void **state)
{
    struct scene *s = *state;
    s->jit_code = "mn";
    resume(s, at('m', 0x20));
    return_to(s, at('i', 0x80));
    assert_spans(s, "i?(m?())$");
}

/* Its stub is a part of the method, calls the interpreter's entry in its place, and that returns by `pop; jmp`. */
static void a_method_that_calls_its_own_stub_is_returned_to(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_into(s, at('m', 0x10), at('m', 0x800));
    direct_jump(s, at('i', 0));
    jump(s, at('m', 0x10) + SCENE_CALL_LENGTH);
    call(s, at('m', 0x20), 'b');
    assert_spans(s, "m(m()ti()b()$)$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_compiled_method_returns_to_the_interpreter, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_interpreted_method_returns_within_its_frame, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(no_caller_is_discovered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_a_call_may_end_a_caller_is_discovered, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(code_of_files_returns_by_the_other_rules, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_method_that_calls_its_own_stub_is_returned_to, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
