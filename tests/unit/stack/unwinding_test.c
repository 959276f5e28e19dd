/* longjmp and exceptions: each rule reached by a short sequence of events. The notation of spans is
 * explained in scene.h; x is an unwinder or longjmp, s is setjmp.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void call_setjmp(struct scene *s, uint64_t from)
{
    call(s, from, 's');
    return_after(s, from);
}

/* Exceptions. */

static void a_landing_pad_after_a_call_that_never_returns_is_no_return(void **state)
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

static void a_landing_pad_after_the_call_of_the_unwinder_itself_is_no_return(void **state)
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

static void after_a_landing_pad_its_frame_continues(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x35));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'x');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x40), 'c');
    assert_spans(s, "m(a(a(x()u)uc()$)$)$");
}

static void a_jump_that_is_not_seen_to_load_the_stack_lands_on_pads_too(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x35));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'x');
    jump(s, at('a', 0x35));
    call(s, at('a', 0x40), 'c');
    assert_spans(s, "m(a(a(x()u)uc()$)$)$");
}

static void a_return_that_fits_no_call_lands_on_pads_too(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x35));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'x');
    return_to(s, at('a', 0x35));
    call(s, at('a', 0x40), 'c');
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_spans(s, "m(a(a(x()u)uc()$)$)$");
}

static void an_unwinder_can_be_part_of_the_function_it_lands_in(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x35));
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    jump_in_stack(s, at('a', 0x35));
    assert_spans(s, "m(a(a()u)$)$");
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

static void later_events_decide_which_of_two_frames_continues(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x20), 'b');
    jump_in_stack(s, at('a', 0x35));
    assert_int_equal(s->stack.statistics.unwound, 1);
    call(s, at('a', 0x60), 'c');
    return_after(s, at('a', 0x60));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(a(b()u)uc()))$");
}

static void an_unwind_target_in_the_leaf_itself_unwinds_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    jump_in_stack(s, at('a', 0x35));
    assert_int_equal(s->stack.statistics.unwound, 0);
    assert_spans(s, "a()$");
}

static void an_unwind_target_in_a_function_never_seen_has_no_known_caller(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    jump_in_stack(s, at('z', 0x40));
    assert_spans(s, "m(a(b()s)s)sz?()$");
}

static void an_unwind_target_in_unknown_code_that_is_open_is_no_tail_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_into(s, at('a', 0x10), 0x100);
    call(s, 0x110, 'b');
    jump(s, 0x140);
    assert_spans(s, "a(?(b()u)$)$");
}

static void
a_frame_that_has_called_setjmp_is_preferred_after_an_unwind_target_elsewhere(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'd');
    call(s, at('d', 0x10), 'd');
    call(s, at('d', 0x20), 'x');
    jump_in_stack(s, at('d', 0x35));
    call(s, at('d', 0x40), 'a');
    call_setjmp(s, at('a', 0x30));
    call(s, at('a', 0x40), 'a');
    call(s, at('a', 0x50), 'x');
    jump_in_stack(s, at('a', 0x35));
    assert_int_equal(s->stack.segments.count, 2);
    return_after(s, at('d', 0x40));
    assert_spans(s, "m(a(d(d(x()ua(s()a(x()u)u))$)$)$)$");
}

static void
resuming_in_a_function_never_seen_replaces_the_leaf_though_another_stack_waits(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'x');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('z', 0x40));
    assert_spans(s, "a(x()s)sf(b(I())tz()$)$");
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
    assert_int_equal(s->stack.segments.count, 1);
    assert_int_equal(s->stack.statistics.unwound, 2);
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

static void forced_unwinding_that_has_landed_everywhere_is_a_longjmp(void **state)
{
    struct scene *s = *state;
    s->forced_unwinder = 'u';
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_setjmp(s, at('a', 0x30));
    for (int i = 0; i < 2; i++) {
        call(s, at('a', 0x50), 'u');
        jump_in_stack(s, at('a', 0x35));
    }
    assert_spans(s, "m(a(s()u()uu()u)$)$");
}

static void longjmp_inside_of_what_the_unwinder_calls_does_not_leave_it(void **state)
{
    struct scene *s = *state;
    s->forced_unwinder = 'u';
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'p');
    call_setjmp(s, at('p', 0x30));
    call(s, at('p', 0x40), 'u');
    call(s, at('u', 0x10), 'p');
    call_setjmp(s, at('p', 0x30));
    call(s, at('p', 0x50), 'x');
    jump_in_stack(s, at('p', 0x35));
    call(s, at('p', 0x60), 'c');
    return_after(s, at('p', 0x60));
    return_after(s, at('u', 0x10));
    assert_spans(s, "m(p(s()u(p(s()x()uc()))$)$)$");
}

/* Which frames have called setjmp. */

static void a_system_call_is_no_setjmp(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    system_call(s, at('a', 0x33));
    resume(s, at('a', 0x35));
    call(s, at('a', 0x40), 'a');
    call(s, at('a', 0x50), 'x');
    jump_in_stack(s, at('a', 0x35));
    assert_int_equal(s->stack.segments.count, 2);
}

static void frames_that_have_called_setjmp_from_inside_outwards_are_all_found(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x40), 'a');
    call_setjmp(s, at('a', 0x30));
    return_after(s, at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    call(s, at('a', 0x40), 'a');
    call(s, at('a', 0x50), 'x');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x60), 'c');
    return_after(s, at('a', 0x60));
    return_after(s, at('a', 0x40));
    assert_spans(s, "m(a(a(s())s()a(x()uc()))$)$");
}

static void a_frame_open_before_the_trace_may_have_called_setjmp_as_others_have(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0x10));
    call(s, at('a', 0x40), 'a');
    call_setjmp(s, at('a', 0x30));
    call(s, at('a', 0x50), 'x');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x60), 'c');
    return_after(s, at('a', 0x60));
    return_to(s, at('q', 0x15));
    assert_spans(s, "q?(a?(a(s()x()u)uc()))$");
}

/* Setjmp-protected calls: each a calls setjmp, then the next a, protected; f passes errors on. */

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

static void a_setjmp_call_made_again_can_be_left_for_the_same_frame(void **state)
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

/* The setjmp-protected calls at a35 and a65, after two calls of setjmp, are learned separately. */
static void a_call_that_another_setjmp_protects_passes_the_error_on(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    call_setjmp(s, at('a', 0x60));
    call(s, at('a', 0x70), 'b');
    jump_in_stack(s, at('a', 0x65));
    fail_from(s, at('a', 0x40), 'b');
    fail_from(s, at('a', 0x70), 'f');
    fail_from(s, at('a', 0x70), 'f');
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()a(s()a(s()s()b()ub(x()u)uf(x()u)u)uf(x()u)u)u))$");
}

static void a_call_that_only_another_setjmp_is_known_not_to_protect_may_be_protected(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    call_setjmp(s, at('a', 0x60));
    call(s, at('a', 0x70), 'b');
    jump_in_stack(s, at('a', 0x65));
    fail_from(s, at('a', 0x80), 'b');
    fail_from(s, at('a', 0x90), 'f');
    assert_spans(s, "m(a(s()a(s()s()b()ub(x()u)uf(x()u)u)$)$)$");
}

static void an_error_after_an_unwind_target_elsewhere_may_land_in_the_same_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_setjmp(s, at('a', 0x60));
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x60));
    call_setjmp(s, at('a', 0x30));
    fail_from(s, at('a', 0x40), 'b');
    call(s, at('a', 0x70), 'b');
    jump_in_stack(s, at('a', 0x65));
    fail_from(s, at('a', 0x70), 'f');
    assert_spans(s, "m(a(s()s()a(s()s()b(x()u)ub()uf(x()u)u)$)$)$");
}

static void an_error_without_a_call_may_land_in_the_same_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    fail_from(s, at('a', 0x40), 'b');
    jump_in_stack(s, at('a', 0x35)); /* longjmp is part of a */
    assert_spans(s, "m(a(s()a(s()b(x()u)u)$)$)$");
}

static void an_error_further_out_than_the_last_unwind_target_may_land_anywhere(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    fail_from(s, at('a', 0x40), 'b');
    return_after(s, at('a', 0x40));
    fail_from(s, at('a', 0x70), 'f');
    assert_spans(s, "m(a(s()a(s()a(s()b(x()u)u)f(x()u)u)$)$)$");
}

static void without_setjmp_no_calls_are_known_to_be_protected(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x40), 'a');
    fail_from(s, at('a', 0x40), 'b');
    fail_from(s, at('a', 0x70), 'f');
    assert_spans(s, "m(a(a(b(x()u)uf(x()u)u)$)$)$");
}

static void an_error_passes_a_frame_that_called_no_setjmp_and_one_without_protection(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_with_cleanup(s, at('a', 0x30), at('a', 0x40));
    call_setjmp(s, at('a', 0x30));
    fail_from(s, at('a', 0x40), 'b');
    call(s, at('a', 0x70), 'f');
    call(s, at('f', 0x10), 'a');
    call(s, at('a', 0x50), 'x');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x80), 'c');
    return_after(s, at('a', 0x80));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()a(s()b(x()u)uf(a(x()u)u)u)uc()))$");
}

/* longjmp with recorded stack pointers. Each a calls setjmp and then another a. */

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

static void an_unwind_target_with_the_same_pointer_is_in_the_same_frame(void **state)
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
    assert_int_equal(s->stack.segments.count, 2); /* the second unwind target was known at once */
}

static void an_unwind_target_with_a_higher_pointer_is_further_out(void **state)
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

static void a_higher_pointer_is_not_in_the_same_frame_as_before(void **state)
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
    call_setjmp(s, at('a', 0x60)); /* after alloca */
    call_a_with_setjmp(s, at('a', 0x40));
    call_setjmp(s, at('a', 0x60));
    call(s, at('a', 0x50), 'x');
    jump_to_pointer(s, at('a', 0x65), 0x2000);
    longjmp_to(s, 0x3000);
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(s()s()a(s()s()x()u)ux()u))$");
}

static void a_pointer_outside_a_handler_says_nothing_about_the_handlers_stack(void **state)
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

static void the_pointer_decides_before_setjmp_calls(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    call_a_with_setjmp(s, at('a', 0x40));
    call_a_with_setjmp(s, at('a', 0x40));
    call(s, at('a', 0x40), 'b');
    jump_to_pointer(s, at('a', 0x35), 0x2000);
    longjmp_to(s, 0x2000);
    assert_int_equal(s->stack.segments.count, 2);
    call(s, at('a', 0x60), 'c');
    assert_spans(s, "m(a(s()a(s()a(s()b()ux()uc()$)$)$)$)$");
}

static void a_pointer_known_from_another_function_decides_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'c');
    call(s, at('c', 0x10), 'a');
    longjmp_to(s, 0x2000);
    call(s, at('a', 0x50), 'x');
    jump_to_pointer(s, at('c', 0x40), 0x2000);
    assert_int_equal(s->stack.segments.count, 1);
    assert_spans(s, "m(c(a(x()ux()u)u)$)$");
}

static void an_unwind_target_whose_pointer_is_not_reported_may_be_anywhere(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x2000);
    call(s, at('a', 0x40), 'a');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x60), 'c');
    assert_spans(s, "m(a(s()a(s()x()ua()uc()$)$)$)$");
}

static void an_unwind_target_with_a_lower_pointer_may_be_further_in(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    longjmp_to(s, 0x3000);
    call_a_with_setjmp(s, at('a', 0x40));
    longjmp_to(s, 0x2000);
    call(s, at('a', 0x60), 'c');
    return_after(s, at('a', 0x60));
    return_after(s, at('a', 0x40));
    assert_spans(s, "m(a(s()x()ua(s()x()uc()))$)$");
}

static void a_pointer_far_outside_a_handler_says_nothing_about_the_handlers_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call_a_with_setjmp(s, at('m', 0x10));
    longjmp_to(s, 0x2000);
    call(s, at('a', 0x50), 'd');
    interrupt(s, at('d', 0x60));
    resume(s, at('h', 0));
    call(s, at('h', 0x10), 'b');
    call(s, at('b', 0x10), 'x');
    jump_to_pointer(s, at('b', 0x35), 0x9000);
    assert_spans(s, "m(a(s()x()ud(I()h(b(x()u)$)$)$)$)$");
    assert_int_equal(s->stack.segments.count, 1);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_landing_pad_after_a_call_that_never_returns_is_no_return),
        RULE(a_landing_pad_after_the_call_of_the_unwinder_itself_is_no_return),
        RULE(an_unwinder_that_ends_in_a_return_lands_on_pads_too),
        RULE(a_frame_that_has_called_setjmp_is_preferred),
        RULE(a_frame_open_before_the_trace_is_not_preferred_when_nobody_has_called_setjmp),
        RULE(forced_unwinding_goes_outwards),
        RULE(forced_unwinding_lands_in_one_activation_at_several_addresses),
        RULE(longjmp_may_land_in_one_activation_twice),
        RULE(an_error_that_is_passed_on_goes_outwards),
        RULE(a_setjmp_call_made_again_can_be_left_for_the_same_frame),
        RULE(an_unwind_target_with_the_same_pointer_is_in_the_same_frame),
        RULE(an_unwind_target_with_a_higher_pointer_is_further_out),
        RULE(a_higher_pointer_is_not_in_the_same_frame_as_before),
        RULE(a_higher_pointer_elsewhere_in_a_function_may_be_in_the_same_frame),
        RULE(a_pointer_outside_a_handler_says_nothing_about_the_handlers_stack),
        RULE(a_call_that_another_setjmp_protects_passes_the_error_on),
        RULE(a_call_that_only_another_setjmp_is_known_not_to_protect_may_be_protected),
        RULE(an_error_after_an_unwind_target_elsewhere_may_land_in_the_same_frame),
        RULE(an_error_without_a_call_may_land_in_the_same_frame),
        RULE(an_error_further_out_than_the_last_unwind_target_may_land_anywhere),
        RULE(after_a_landing_pad_its_frame_continues),
        RULE(a_jump_that_is_not_seen_to_load_the_stack_lands_on_pads_too),
        RULE(a_return_that_fits_no_call_lands_on_pads_too),
        RULE(an_unwinder_can_be_part_of_the_function_it_lands_in),
        RULE(later_events_decide_which_of_two_frames_continues),
        RULE(an_unwind_target_in_the_leaf_itself_unwinds_nothing),
        RULE(an_unwind_target_in_a_function_never_seen_has_no_known_caller),
        RULE(an_unwind_target_in_unknown_code_that_is_open_is_no_tail_call),
        RULE(a_frame_that_has_called_setjmp_is_preferred_after_an_unwind_target_elsewhere),
        RULE(resuming_in_a_function_never_seen_replaces_the_leaf_though_another_stack_waits),
        RULE(without_setjmp_no_calls_are_known_to_be_protected),
        RULE(an_error_passes_a_frame_that_called_no_setjmp_and_one_without_protection),
        RULE(the_pointer_decides_before_setjmp_calls),
        RULE(a_pointer_known_from_another_function_decides_nothing),
        RULE(forced_unwinding_that_has_landed_everywhere_is_a_longjmp),
        RULE(longjmp_inside_of_what_the_unwinder_calls_does_not_leave_it),
        RULE(a_system_call_is_no_setjmp),
        RULE(frames_that_have_called_setjmp_from_inside_outwards_are_all_found),
        RULE(a_frame_open_before_the_trace_may_have_called_setjmp_as_others_have),
        RULE(an_unwind_target_whose_pointer_is_not_reported_may_be_anywhere),
        RULE(an_unwind_target_with_a_lower_pointer_may_be_further_in),
        RULE(a_pointer_far_outside_a_handler_says_nothing_about_the_handlers_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
