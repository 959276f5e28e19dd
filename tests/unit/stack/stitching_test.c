/* What two segments have in common (stitching.h). The notation of spans is explained in scene.h. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Signal handlers after a gap. */

static void a_handler_that_is_discovered_is_the_one_from_before(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    call(s, at('h', 0x10), 'c');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('c', 0x40));
    return_after(s, at('h', 0x10));
    assert_spans(s, "a(I()h(c(!)+)$+)$+");
}

static void report_handler(struct scene *s, uint64_t address)
{
    resume(s, address);
    interrupted_caller(s, at('a', 0x20));
    no_caller(s);
}

static void a_handler_that_is_reported_is_the_function_from_before(void **state)
{
    struct scene *s = *state;
    resume(s, at('h', 0x40));
    gap(s, FLOW_GAP_ERROR, 0);
    report_handler(s, at('h', 0x50));
    assert_spans(s, "a?(h?(!)$+)$+");
}

static void a_handler_that_is_reported_twice_is_one(void **state)
{
    struct scene *s = *state;
    report_handler(s, at('h', 0x40));
    gap(s, FLOW_GAP_ERROR, 0);
    report_handler(s, at('h', 0x50));
    assert_spans(s, "a?(h?(!)$+)$+");
}

/* Stacks that are known up to their outermost function: m has called a, that m, that b. */

static void nest(struct scene *s, bool whole)
{
    resume(s, at('m', 0));
    if (whole)
        no_caller(s);
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'm');
    call(s, at('m', 0x20), 'b');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('b', 0x40));
    caller(s, at('m', 0x25));
}

static void whole_stacks_have_their_outermost_function_in_common(void **state)
{
    struct scene *s = *state;
    nest(s, true);
    no_caller(s);
    assert_spans(s, "m(a(m(b()g)g)g!b?()$)$+");
}

static void when_one_is_not_whole_as_much_as_can_is_in_common(void **state)
{
    struct scene *s = *state;
    nest(s, true);
    assert_spans(s, "m(a(m(b(!)$+)$+)$+)$+");
}

static void when_the_first_is_not_whole_as_much_as_can_is_in_common(void **state)
{
    struct scene *s = *state;
    nest(s, false);
    no_caller(s);
    assert_spans(s, "m(a(m(b(!)$+)$+)$+)$+");
}

/* Unwind targets. */

static void longjmp_continues_only_in_frames_that_have_called_setjmp(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    for (int i = 0; i < 2; i++) {
        call(s, at('a', 0x30), 's');
        return_after(s, at('a', 0x30));
        call(s, at('a', 0x40), 'a');
    }
    call(s, at('a', 0x50), 'x');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x60), 'c');
    return_after(s, at('a', 0x60));
    return_after(s, at('a', 0x40));
    assert_spans(s, "m(a(s()a(s()a(x()u)uc()))$)$");
}

static void an_unwind_target_is_where_all_callers_fit(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'a');
    call(s, at('a', 0x20), 'x');
    jump_in_stack(s, at('a', 0x35));
    call(s, at('a', 0x60), 'c');
    return_after(s, at('a', 0x60));
    return_after(s, at('m', 0x10));
    call(s, at('m', 0x30), 'd');
    assert_spans(s, "m(a(b(a(x()u)u)uc())d()$)$");
}

static void a_frame_learns_after_a_gap_where_it_returns_to(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0x40));
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('a', 0x50));
    return_to(s, at('m', 0x15));
    call(s, at('m', 0x20), 'a');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('a', 0x50));
    return_to(s, at('m', 0x25));
    assert_spans(s, "m?(a?(!)+a(!)+)$+");
}

static void what_has_no_caller_in_common_is_apart(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('a', 0x50));
    return_to(s, at('n', 0x15));
    assert_spans(s, "m(a()g)g!n?(a?())$");
}

static void an_unwind_target_in_a_function_never_seen_may_turn_out_to_have_callers(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    jump_in_stack(s, at('z', 0x40));
    return_to(s, at('q', 0x15));
    assert_spans(s, "m(a(b()s)s)sq?(z?())$");
}

static void an_unwind_target_out_of_the_first_function_known_has_no_known_caller(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    jump_in_stack(s, at('z', 0x40));
    assert_spans(s, "a()sz?()$");
}

static void after_an_unwind_target_a_function_never_seen_was_not_open_before(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x20), 'b');
    jump_in_stack(s, at('a', 0x35));
    jump(s, at('z', 0x40));
    assert_int_equal(s->stack.segments.count, 2);
    assert_int_equal(s->stack.statistics.unwound, 1);
}

static void what_was_open_in_another_stack_was_not_open_before_in_this(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    jump(s, at('m', 0x40));
    assert_spans(s, "m(a(s()s)s)sf()tm()$");
}

static void a_function_called_from_elsewhere_after_a_gap_is_another(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'b');
    call(s, at('b', 0x20), 'c');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('c', 0x40));
    return_to(s, at('b', 0x15));
    assert_spans(s, "m(b(c()g!c?())$+)$+");
}

static void where_a_function_returns_to_is_learned_across_gaps(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('a', 0x50));
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('a', 0x60));
    return_to(s, at('m', 0x25));
    assert_spans(s, "m(a()g!a?(!)+)$+");
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_handler_that_is_discovered_is_the_one_from_before),
        RULE(a_handler_that_is_reported_is_the_function_from_before),
        RULE(a_handler_that_is_reported_twice_is_one),
        RULE(whole_stacks_have_their_outermost_function_in_common),
        RULE(when_one_is_not_whole_as_much_as_can_is_in_common),
        RULE(when_the_first_is_not_whole_as_much_as_can_is_in_common),
        RULE(longjmp_continues_only_in_frames_that_have_called_setjmp),
        RULE(an_unwind_target_is_where_all_callers_fit),
        RULE(a_frame_learns_after_a_gap_where_it_returns_to),
        RULE(what_has_no_caller_in_common_is_apart),
        RULE(an_unwind_target_in_a_function_never_seen_may_turn_out_to_have_callers),
        RULE(an_unwind_target_out_of_the_first_function_known_has_no_known_caller),
        RULE(after_an_unwind_target_a_function_never_seen_was_not_open_before),
        RULE(what_was_open_in_another_stack_was_not_open_before_in_this),
        RULE(a_function_called_from_elsewhere_after_a_gap_is_another),
        RULE(where_a_function_returns_to_is_learned_across_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
