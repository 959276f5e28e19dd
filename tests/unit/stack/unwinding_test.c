/* longjmp and exceptions, each rule reached by a small story. The notation of spans is explained in
 * scene.h; in these stories x is an unwinder or longjmp, s is setjmp. */
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
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    scene_free(*state);
    return 0;
}

static void call_setjmp(struct scene *s, uint64_t from)
{
    call(s, from, 's');
    return_after(s, from);
}

/* Exceptions. */

static void a_landing_pad_behind_a_call_that_never_returns_is_no_return(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x15));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'x');
    jump_in_stack(s, at('a', 0x15));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(a(b(x()u)u)u))$");
}

static void a_landing_pad_behind_the_call_of_the_unwinder_itself_is_no_return(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x15));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'x');
    jump_in_stack(s, at('a', 0x15));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(a(x()u)u))$");
}

static void an_unwinder_that_ends_in_a_return_lands_on_pads_too(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x15));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'x');
    return_to(s, at('a', 0x15));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(a(b(x()u)u)u))$");
}

/* longjmp. */

static void a_frame_that_has_called_setjmp_is_preferred(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_setjmp(s, at('a', 0x30));
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x10), 'x');
    jump_in_stack(s, at('a', 0x35));
    assert_spans(s, "m(a(s()a(x()u)u)$)$");
}

static void
a_frame_open_before_the_trace_is_not_preferred_when_nobody_has_called_setjmp(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0x10));
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    jump_in_stack(s, at('a', 0x35));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a?(a(b()u))$");
}

/* Forced unwinding: u is the unwinder, m has no handler. */

static void call_with_cleanup(struct scene *s, uint64_t setjmp_call, uint64_t call_site)
{
    call_setjmp(s, setjmp_call);
    call(s, call_site, 'a');
}

static void forced_unwinding_goes_outwards(void **state)
{
    struct scene *s = *state;
    s->forced_unwinder = 'u';
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    for (int i = 0; i < 2; i++) {
        call(s, at('a', 0x50), 'u');
        call(s, at('u', 0x10), 'x');
        jump_in_stack(s, at('a', 0x35));
    }
    assert_spans(s, "m(a(s()a(s()a(s()a(u(x()u)u)uu(x()u)u)u)$)$)$");
}

static void forced_unwinding_lands_in_one_activation_at_several_addresses(void **state)
{
    struct scene *s = *state;
    s->forced_unwinder = 'u';
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    call_setjmp(s, at('a', 0x60));
    call(s, at('a', 0x50), 'u');
    jump_in_stack(s, at('a', 0x65));
    call(s, at('a', 0x50), 'u');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x50), 'u');
    jump_in_stack(s, at('a', 0x35));
    assert_spans(s, "m(a(s()a(s()s()u()uu()uu()u)u)$)$");
}

static void longjmp_may_land_in_one_activation_twice(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    for (int i = 0; i < 2; i++) {
        call(s, at('a', 0x50), 'u');
        jump_in_stack(s, at('a', 0x35));
    }
    return_after(s, at('a', 0x40));
    assert_spans(s, "m(a(s()a(s()u()uu()u))$)$");
}

/* Protected calls: each a calls setjmp, then the next a, protected; f passes errors on. */

static void fail_from(struct scene *s, uint64_t call_site, char function)
{
    call(s, call_site, function);
    call(s, at(function, 0x10), 'x');
    jump_in_stack(s, at('a', 0x35));
}

static void an_error_that_is_passed_on_goes_outwards(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    fail_from(s, at('a', 0x40), 'b');
    fail_from(s, at('a', 0x70), 'f');
    fail_from(s, at('a', 0x70), 'f');
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()a(s()a(s()b(x()u)uf(x()u)u)uf(x()u)u)u))$");
}

static void a_protected_call_made_again_can_be_left_for_the_same_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    fail_from(s, at('a', 0x40), 'b');
    fail_from(s, at('a', 0x40), 'b');
    assert_spans(s, "m(a(s()a(s()b(x()u)ub(x()u)u)$)$)$");
}

/* longjmp where the stack pointer is told. Each a calls setjmp and then another a. */

static void call_a_with_setjmp(struct scene *s, uint64_t call_site)
{
    call(s, call_site, 'a');
    call_setjmp(s, at('a', 0x30));
}

static void longjmp_to(struct scene *s, uint64_t pointer)
{
    call(s, at('a', 0x50), 'x');
    jump_to_pointer(s, at('a', 0x35), pointer);
}

static void a_landing_with_the_same_pointer_is_in_the_same_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    call_a_with_setjmp(s, at('a', 0x40));
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x2000);
    call_a_with_setjmp(s, at('a', 0x40));
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x2000);
    return_after(s, at('a', 0x40));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()a(s()a(s()x()u)ua(s()a(s()x()u)u)u)))$");
    assert_int_equal(s->stack.segments.count, 2); /* the second landing was known at once */
}

static void a_landing_with_a_higher_pointer_is_further_out(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x2000);
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x3000);
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()a(s()x()ua(s()x()u)u)u))$");
}

static void a_higher_pointer_leaves_the_frame_that_was_landed_in(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x2000);
    longjmp_to(s, 0x3000);
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()a(s()x()ux()u)u))$");
}

static void a_higher_pointer_elsewhere_in_a_function_may_be_in_the_same_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    call_setjmp(s, at('a', 0x60)); /* behind alloca */
    call_a_with_setjmp(s, at('a', 0x40));
    call_setjmp(s, at('a', 0x60));
    call(s, at('a', 0x50), 'x');
    jump_to_pointer(s, at('a', 0x65), 0x2000);
    longjmp_to(s, 0x3000);
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()s()a(s()s()x()u)ux()u))$");
}

static void a_pointer_outside_a_handler_tells_nothing_of_the_handlers_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    longjmp_to(s, 0x2000);
    interrupt(s, at('a', 0x60));
    resume(s, at('h', 0));
    call(s, at('h', 0x10), 'b');
    call(s, at('b', 0x10), 'x');
    jump_to_pointer(s, at('b', 0x35), 0x9000);
    assert_spans(s, "m(a(s()x()uI()h(b(x()u)$)$)$)$");
    assert_int_equal(s->stack.segments.count, 1);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_landing_pad_behind_a_call_that_never_returns_is_no_return),
        RULE(a_landing_pad_behind_the_call_of_the_unwinder_itself_is_no_return),
        RULE(an_unwinder_that_ends_in_a_return_lands_on_pads_too),
        RULE(a_frame_that_has_called_setjmp_is_preferred),
        RULE(a_frame_open_before_the_trace_is_not_preferred_when_nobody_has_called_setjmp),
        RULE(forced_unwinding_goes_outwards),
        RULE(forced_unwinding_lands_in_one_activation_at_several_addresses),
        RULE(longjmp_may_land_in_one_activation_twice),
        RULE(an_error_that_is_passed_on_goes_outwards),
        RULE(a_protected_call_made_again_can_be_left_for_the_same_frame),
        RULE(a_landing_with_the_same_pointer_is_in_the_same_frame),
        RULE(a_landing_with_a_higher_pointer_is_further_out),
        RULE(a_higher_pointer_leaves_the_frame_that_was_landed_in),
        RULE(a_higher_pointer_elsewhere_in_a_function_may_be_in_the_same_frame),
        RULE(a_pointer_outside_a_handler_tells_nothing_of_the_handlers_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
