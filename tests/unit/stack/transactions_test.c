/* TSX transactions that fail: each rule of transactions.h, reached by a short sequence of events.
 * The notation of spans is explained in scene.h.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* a has called b, in which a transaction has begun. */
static void begin_in_b(struct scene *s)
{
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    s->in_transaction = true;
}

static void what_a_failed_transaction_has_called_is_unwound(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'c');
    call(s, at('c', 0x10), 'd');
    abort_to(s, at('b', 0x40));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c(d()u)u))$");
    assert_int_equal(s->stack.statistics.unwound, 1);
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void a_transaction_goes_back_to_the_activation_that_began_it(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    abort_to(s, at('b', 0x40));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'e');
    assert_spans(s, "a(b(b(c()u)u)e()$)$");
}

static void a_transaction_that_fails_out_of_what_is_traced_is_undone(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'c');
    abort_to(s, 0);
    stop(s, 0);
    resume(s, at('b', 0x44));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c()uU()))$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void a_transaction_that_fails_at_once_changes_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    abort_to(s, at('b', 0x40));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b())$");
    assert_int_equal(s->stack.statistics.unwound, 0);
}

static void what_has_returned_in_a_failed_transaction_runs_again(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    abort_to(s, at('b', 0x40));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    assert_spans(s, "a(b()c()ub()c()$)$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void several_frames_run_again(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    s->in_transaction = true;
    return_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    abort_to(s, at('c', 0x40));
    return_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c())b(c()))$");
}

static void the_outermost_function_known_can_run_again(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    s->in_transaction = true;
    jump(s, at('c', 0));
    abort_to(s, at('b', 0x40));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?()tc()ub())$");
}

static void a_transaction_that_succeeds_is_forgotten(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'c');
    s->in_transaction = false;
    return_after(s, at('b', 0x10));
    call(s, at('b', 0x20), 'b');
    s->in_transaction = true;
    call(s, at('b', 0x30), 'd');
    abort_to(s, at('b', 0x40));
    call(s, at('b', 0x50), 'e');
    assert_spans(s, "a(b(c()b(d()ue()$)$)$)$");
}

static void a_transaction_whose_beginning_was_not_seen_lands(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    abort_to(s, at('a', 0x40));
    assert_spans(s, "a(b(c()u)u)$");
}

static void a_recording_can_begin_with_an_abort(void **state)
{
    struct scene *s = *state;
    abort_to(s, at('b', 0x40));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?())$");
}

static void a_transaction_can_fail_after_a_gap(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'c');
    gap(s, FLOW_GAP_OVERFLOW, 0);
    resume(s, at('c', 0x10));
    abort_to(s, at('b', 0x40));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c(!)u+)+)$+");
}

static void a_transaction_that_began_elsewhere_lands(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'c');
    abort_to(s, at('a', 0x40));
    assert_spans(s, "a(b(c()u)u)$");
}

static void a_transaction_that_has_gone_too_far_lands(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    for (int i = 0; i < 1000; i++)
        call(s, at('c', 0x10), 'c');
    abort_to(s, at('b', 0x40));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'e');
    assert_int_equal(s->stack.statistics.unwound, 1);
    follow_end(&s->stack, &(struct follow_ending){0});
    assert_well_formed(&s->stack);
}

static void a_failed_transaction_that_called_nothing_unwinds_nothing(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    jump(s, at('b', 0x20));
    abort_to(s, at('b', 0x40));
    assert_int_equal(s->stack.statistics.unwound, 0);
    assert_spans(s, "a(b()$)$");
}

static void what_moves_nothing_does_not_begin_a_transaction_again(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'b');
    s->in_transaction = false;
    push_trap(s, at('b', 0x80));
    pop_trap(s);
    stack_pointer(s, 0x1000);
    caller(s, at('b', 0x15));
    s->in_transaction = true;
    call(s, at('b', 0x10), 'c');
    abort_to(s, at('b', 0x40));
    call(s, at('b', 0x50), 'd');
    assert_spans(s, "a(b(b(c()u)ud()$)$)$");
}

static void a_failed_transaction_ends_a_system_call_whose_end_was_missed(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    abort_to(s, at('a', 0x40));
    assert_spans(s, "a(S())$");
    assert_int_equal(s->stack.statistics.repaired, 1);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(what_a_failed_transaction_has_called_is_unwound),
        RULE(a_transaction_goes_back_to_the_activation_that_began_it),
        RULE(a_transaction_that_fails_out_of_what_is_traced_is_undone),
        RULE(a_transaction_that_fails_at_once_changes_nothing),
        RULE(what_has_returned_in_a_failed_transaction_runs_again),
        RULE(several_frames_run_again),
        RULE(the_outermost_function_known_can_run_again),
        RULE(a_transaction_that_succeeds_is_forgotten),
        RULE(a_transaction_whose_beginning_was_not_seen_lands),
        RULE(a_recording_can_begin_with_an_abort),
        RULE(a_transaction_can_fail_after_a_gap),
        RULE(a_transaction_that_began_elsewhere_lands),
        RULE(a_transaction_that_has_gone_too_far_lands),
        RULE(a_failed_transaction_that_called_nothing_unwinds_nothing),
        RULE(what_moves_nothing_does_not_begin_a_transaction_again),
        RULE(a_failed_transaction_ends_a_system_call_whose_end_was_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
