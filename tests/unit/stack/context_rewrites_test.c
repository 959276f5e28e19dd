/* sigreturn that continues at another address: each rule of context_rewrites.h, reached by a short
 * sequence of events. The notation of spans is explained in scene.h; h is a signal's handler, r the
 * restorer.
 */
#include "scene.h"

#include "stack/rules/context_rewrites.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* a has called b, which is interrupted; the handler has returned, and sigreturn leads to `to`. */
static void interrupt_b_and_go_to(struct scene *s, uint64_t to)
{
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, to);
}

static void begin_in_b(struct scene *s)
{
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
}

static void what_returns_to_the_caller_has_run_in_the_place_of_the_interrupted(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    call(s, at('f', 0x10), 'g');
    return_after(s, at('f', 0x10));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    assert_spans(s, "a(b(I()h()r(S()))uf(g())c()$)$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void an_injected_call_returns_to_what_was_interrupted(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    return_to(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S())f()))$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void an_injected_call_ends_in_the_activation_that_was_interrupted(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'b');
    interrupt_b_and_go_to(s, at('f', 0));
    return_to(s, at('b', 0x20));
    call(s, at('b', 0x30), 'c');
    assert_spans(s, "a(b(b(I()h()r(S())f()c()$)$)$)$");
}

static void code_without_a_name_can_be_injected(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0x123));
    return_to(s, at('b', 0x20));
    assert_spans(s, "a(b(I()h()r(S())f())$)$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void a_waiting_handler_runs_on_top(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('i', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S())i()r(S())))$");
}

static void a_waiting_handler_may_return_to_a_restorer_without_name(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('i', 0));
    return_to(s, at('r', 0x40)); /* the restorer has no name: it begins anywhere */
    system_call(s, at('r', 0x47));
    resume(s, at('b', 0x20));
    assert_spans(s, "b?(I()h()r(S())i()r(S()))$");
}

static void what_has_waited_before_is_no_context_rewrite(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('i', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('i', 0));
    jump(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h()r(S())i()r(S())i()u)u)$");
}

static void what_was_rewritten_is_open_no_more(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    jump(s, at('b', 0x70));
    assert_spans(s, "a(b(I()h()r(S()))uf()c()tb()$)$");
}

static void a_context_rewrite_can_be_taken_over_by_a_tail_call(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    jump(s, at('g', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S()))uf()tg())$");
}

static void a_context_rewrite_of_the_outermost_function_known_discovers_its_caller(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    interrupt_b_and_go_to(s, at('f', 0));
    return_to(s, at('a', 0x15));
    call(s, at('a', 0x20), 'c');
    assert_spans(s, "a?(b?(I()h()r(S()))uf()c()$)$");
}

static void what_is_left_by_longjmp_has_run_in_the_place_of_the_interrupted(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    call(s, at('f', 0x10), 'l');
    jump(s, at('a', 0x70));
    call(s, at('a', 0x80), 'c');
    assert_spans(s, "a(b(I()h()r(S()))uf(l()u)uc()$)$");
}

static void an_injected_call_that_lands_in_the_interrupted_function_ran_on_top(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    call(s, at('f', 0x10), 'l');
    jump(s, at('b', 0x70));
    assert_spans(s, "a(b(I()h()r(S())f(l()u)u)$)$");
}

static void what_has_been_injected_before_is_no_context_rewrite(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    return_to(s, at('b', 0x20));
    interrupt_b_and_go_to(s, at('f', 0));
    jump(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h()r(S())f()I()h()r(S())f()u)u)$");
}

static void what_go_injects_is_no_context_rewrite(void **state)
{
    struct scene *s = *state;
    s->go_roles[id_of('f')] = GO_ROLE_INJECTED;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    jump(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h()r(S())f()u)u)$");
}

static void a_handler_seen_before_is_no_context_rewrite(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('h', 0));
    jump(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h()r(S())h()u)u)$");
}

static void a_context_rewrite_can_be_rewritten(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    interrupt(s, at('f', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('g', 0));
    return_to(s, at('f', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S()))uf(I()h()r(S())g()))$");
}

static void a_context_rewrite_of_a_context_rewrite_returns_for_the_first(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    interrupt(s, at('f', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('g', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S()))uf(I()h()r(S()))ug())$");
}

static void context_rewrites_that_never_end_are_forgotten(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    for (int i = 0; i < 200; i++) {
        interrupt(s, at('b', 0x20));
        resume(s, at('h', 0));
        return_to(s, at('r', 0));
        system_call(s, at('r', 0x7));
        resume(s, at('f', 0));
        gap(s, FLOW_GAP_OVERFLOW, 0);
        resume(s, at('b', 0x20));
    }
    assert_true(s->stack.rules.context_rewrites->frames.count <= 64);
    follow_end(&s->stack, &(struct follow_ending){0});
    assert_well_formed(&s->stack);
}

static void another_program_has_other_handlers(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('b', 0x20));
    system_call(s, at('b', 0x30));
    s->program_changes++;
    resume(s, at('a', 0));
    assert_int_equal(s->stack.rules.context_rewrites->run_on_top.count, 0);
}

static void a_restartable_sequence_is_aborted_in_its_place(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt(s, at('b', 0x20));
    resume(s, at('f', 0)); /* its abort handler */
    direct_jump(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    assert_spans(s, "a(b(I())uf()tb()c()$)$");
    assert_int_equal(s->stack.statistics.unwound, 0);
}

static void a_handler_that_is_left_the_first_time_is_no_context_rewrite(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    jump(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h()u)u)$");
}

static void the_first_handler_of_a_recording_may_have_a_restorer_without_name(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0x40));
    system_call(s, at('r', 0x47));
    resume(s, at('b', 0x20));
    assert_spans(s, "b?(I()h()r(S()))$");
}

static void an_injected_call_may_begin_functions_by_returns(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    interrupt_b_and_go_to(s, at('f', 0));
    return_to(s, at('x', 0));
    assert_spans(s, "b?(I()h()r(S())f()x()$)$");
}

static void an_injected_call_may_return_to_where_the_interrupted_would(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    call(s, at('b', 0x10), 'b');
    interrupt(s, at('b', 0x15));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('f', 0));
    return_to(s, at('b', 0x15));
    call(s, at('b', 0x30), 'c');
    assert_spans(s, "a(b(b(I()h()r(S())f()c()$)$)$)$");
}

static void an_injected_call_known_from_before_returns_too(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    for (int i = 0; i < 2; i++) {
        interrupt_b_and_go_to(s, at('f', 0));
        return_to(s, at('b', 0x20));
        assert_int_equal(s->stack.rules.context_rewrites->frames.count, 0);
    }
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S())f()I()h()r(S())f()))$");
}

static void what_has_run_in_the_place_of_another_is_settled(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    interrupt_b_and_go_to(s, at('f', 0));
    return_after(s, at('a', 0x10));
    assert_int_equal(s->stack.rules.context_rewrites->frames.count, 0);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

/* The handler of a signal in `from` swaps the context for that of the code at `to`. */
static void swap_contexts(struct scene *s, uint64_t from, uint64_t to)
{
    interrupt(s, from);
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, to);
}

static void what_goes_on_where_another_was_interrupted_is_that(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    swap_contexts(s, at('b', 0x20), at('f', 0)); /* a stack of its own begins */
    call(s, at('f', 0x10), 'g');
    swap_contexts(s, at('g', 0x20), at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S()))s)sf(g(I()h()r(S())s)s)sa?(b?())$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void of_several_interrupted_there_the_returns_decide(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    swap_contexts(s, at('b', 0x20), at('f', 0));
    call(s, at('f', 0x10), 'b');
    swap_contexts(s, at('b', 0x20), at('b', 0x20));
    call(s, at('b', 0x30), 'c');
    return_after(s, at('b', 0x30));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S()))s)sf(b(I()h()r(S())s)s)sa?(b?(c()))$");
    assert_int_equal(s->stack.statistics.repaired, 0);
}

static void of_several_interrupted_there_none_is_guessed(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    swap_contexts(s, at('b', 0x20), at('f', 0));
    call(s, at('f', 0x10), 'b');
    swap_contexts(s, at('b', 0x20), at('b', 0x20));
    call(s, at('b', 0x30), 'c');
    assert_spans(s, "a(b(I()h()r(S()))s)sf(b(I()h()r(S())s)s)sb?(c()$)$");
}

static void what_sigreturn_began_last_has_no_known_callers(void **state)
{
    struct scene *s = *state;
    begin_in_b(s);
    swap_contexts(s, at('b', 0x20), at('f', 0));
    call(s, at('f', 0x10), 'g');
    assert_spans(s, "a(b(I()h()r(S()))s)sf(g()$)$");
}

/* The recording begins in f, which b has called, and a b; all have run before. */
static void begin_late_in_f(struct scene *s)
{
    resume(s, at('f', 0x30));
    return_after(s, at('b', 0x10));
    call(s, at('b', 0x10), 'g');
}

static void a_handler_goes_back_also_where_stacks_may_be_unseen(void **state)
{
    struct scene *s = *state;
    begin_late_in_f(s);
    swap_contexts(s, at('g', 0x20), at('g', 0x20));
    return_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a?(b?(f?()g(I()h()r(S()))))$");
}

/* g was called by b, and returns to c: what was interrupted is another stack's g. */
static void a_return_to_another_caller_shows_that_a_handler_has_swapped(void **state)
{
    struct scene *s = *state;
    begin_late_in_f(s);
    swap_contexts(s, at('g', 0x20), at('g', 0x20));
    return_after(s, at('c', 0x10));
    swap_contexts(s, at('c', 0x20), at('c', 0x20));
    call(s, at('c', 0x30), 'd');
    assert_spans(s, "b?(f?()g(I()h()r(S())s)s)sc?(g?()I()h()r(S())s)sc?(d()$)$");
}

/* The first handler may have swapped too, since the second has: nobody knows g's callers between them. */
static void what_was_assumed_before_is_unknown_then(void **state)
{
    struct scene *s = *state;
    begin_late_in_f(s);
    swap_contexts(s, at('g', 0x20), at('g', 0x20));
    swap_contexts(s, at('g', 0x20), at('g', 0x20));
    return_after(s, at('c', 0x10));
    assert_spans(s, "b?(f?()g(I()h()r(S())s)s)sg?(I()h()r(S())s)sc?(g?())$");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(what_returns_to_the_caller_has_run_in_the_place_of_the_interrupted),
        RULE(an_injected_call_returns_to_what_was_interrupted),
        RULE(an_injected_call_ends_in_the_activation_that_was_interrupted),
        RULE(code_without_a_name_can_be_injected),
        RULE(a_waiting_handler_runs_on_top),
        RULE(a_waiting_handler_may_return_to_a_restorer_without_name),
        RULE(what_goes_on_where_another_was_interrupted_is_that),
        RULE(of_several_interrupted_there_the_returns_decide),
        RULE(of_several_interrupted_there_none_is_guessed),
        RULE(what_sigreturn_began_last_has_no_known_callers),
        RULE(a_handler_goes_back_also_where_stacks_may_be_unseen),
        RULE(a_return_to_another_caller_shows_that_a_handler_has_swapped),
        RULE(what_was_assumed_before_is_unknown_then),
        RULE(what_has_waited_before_is_no_context_rewrite),
        RULE(what_was_rewritten_is_open_no_more),
        RULE(a_context_rewrite_of_a_context_rewrite_returns_for_the_first),
        RULE(a_context_rewrite_can_be_taken_over_by_a_tail_call),
        RULE(a_context_rewrite_of_the_outermost_function_known_discovers_its_caller),
        RULE(what_is_left_by_longjmp_has_run_in_the_place_of_the_interrupted),
        RULE(an_injected_call_that_lands_in_the_interrupted_function_ran_on_top),
        RULE(what_has_been_injected_before_is_no_context_rewrite),
        RULE(what_go_injects_is_no_context_rewrite),
        RULE(a_handler_seen_before_is_no_context_rewrite),
        RULE(a_context_rewrite_can_be_rewritten),
        RULE(context_rewrites_that_never_end_are_forgotten),
        RULE(a_restartable_sequence_is_aborted_in_its_place),
        RULE(a_handler_that_is_left_the_first_time_is_no_context_rewrite),
        RULE(the_first_handler_of_a_recording_may_have_a_restorer_without_name),
        RULE(another_program_has_other_handlers),
        RULE(an_injected_call_may_begin_functions_by_returns),
        RULE(an_injected_call_may_return_to_where_the_interrupted_would),
        RULE(an_injected_call_known_from_before_returns_too),
        RULE(what_has_run_in_the_place_of_another_is_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
