/* Each rule of the call stack, reached by a short sequence of events. The notation of spans is
 * explained in scene.h.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t repaired(const struct scene *scene)
{
    return scene->stack.statistics.repaired;
}

/* Calls and returns. */

static void calls_and_returns_nest(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    return_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    return_after(s, at('a', 0x20));
    assert_spans(s, "a(b(c())c())$");
    assert_int_equal(repaired(s), 0);
}

static void direct_recursion_is_kept(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x10), 'a');
    return_after(s, at('a', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(a(a()))$");
    assert_int_equal(repaired(s), 0);
}

static void callers_are_discovered_and_entered_outer_first(void **state)
{
    struct scene *s = *state;
    resume(s, at('c', 0x50));
    return_to(s, at('b', 0x15));
    call(s, at('b', 0x20), 'd');
    return_after(s, at('b', 0x20));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?(c?()d()))$");
    assert_int_equal(repaired(s), 0);
}

static void recursion_above_the_root_is_discovered(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0x50));
    return_to(s, at('a', 0x15));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(a?(a?()))$");
}

static void a_segment_can_begin_with_a_call(void **state)
{
    struct scene *s = *state;
    call(s, at('a', 0x10), 'b');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a?(b())$");
}

static void a_segment_can_begin_with_a_return_or_jump(void **state)
{
    struct scene *s = *state;
    return_to(s, at('a', 0x10));
    gap(s, FLOW_GAP_OVERFLOW, 0);
    jump(s, at('b', 0x10));
    assert_spans(s, "a?()g!b?()$");
}

static void a_first_function_seen_from_its_start_is_not_inferred(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    assert_spans(s, "a()$");
}

static void a_first_function_seen_from_its_middle_is_inferred(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 4));
    assert_spans(s, "a?()$");
}

static void a_function_start_after_a_gap_is_no_new_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    gap(s, FLOW_GAP_LOST, 0);
    resume(s, at('a', 0));
    assert_spans(s, "a(!)$+");
}

/* Calls inside one function: position-independent code, thunks. */

static void a_local_call_that_returns_elsewhere_was_a_jump(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_into(s, at('a', 0x10), at('a', 0x50));
    return_to(s, at('f', 0));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(a())tf())$");
}

static void a_return_out_of_a_local_call_ends_it(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call_into(s, at('a', 0x10), at('a', 0x50));
    call(s, at('a', 0x55), 'b');
    return_after(s, at('a', 0x10));
    assert_spans(s, "m(a(a(b()u))$)$");
}

static void a_call_into_the_middle_of_another_function_is_not_local(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_into(s, at('a', 0x10), at('b', 0x50));
    return_after(s, at('b', 0x70));
    assert_int_equal(repaired(s), 1);
    assert_spans(s, "a(b()$)$");
}

static void a_recursive_call_is_not_local(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'a');
    return_after(s, at('a', 0x70));
    assert_int_equal(repaired(s), 1);
    assert_spans(s, "a(a()$)$");
}

/* Returns that do not match the leaf. */

static void a_long_return_ends_all_frames_up_to_its_own(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    call(s, at('c', 0x10), 'd');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'e');
    assert_spans(s, "a(b(c(d()u)u)e()$)$");
    assert_int_equal(s->stack.statistics.unwound, 1);
    assert_int_equal(repaired(s), 0);
}

static void a_long_return_is_matched_by_address_not_by_name(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x20), 'b');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(a(a(b()u)u))$");
}

static void a_long_return_past_a_root_that_was_called_discovers_the_caller(void **state)
{
    struct scene *s = *state;
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a?(b(c()))$");
}

static void a_return_elsewhere_from_a_root_that_was_called_discovers_a_caller(void **state)
{
    struct scene *s = *state;
    call(s, at('a', 0x10), 'b');
    return_to(s, at('x', 0x33));
    assert_spans(s, "x?(b())$");
}

static void the_return_address_of_a_discovered_root_is_not_that_of_the_first(void **state)
{
    struct scene *s = *state;
    call(s, at('a', 0x10), 'b');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a?(b()c()u)$");
    assert_int_equal(repaired(s), 1);
}

static void a_lost_call_is_repaired_without_a_new_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    return_after(s, at('b', 0x30)); /* of c, whose call was lost */
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b())$");
    assert_int_equal(repaired(s), 1);
}

static void a_lost_call_in_the_root_is_repaired_without_a_new_frame(void **state)
{
    struct scene *s = *state;
    call(s, at('a', 0x10), 'b');
    return_after(s, at('b', 0x30));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a?(b())$");
    assert_int_equal(repaired(s), 1);
}

static void a_lost_return_is_repaired_by_the_next_one(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c()u))$");
}

static void unmatched_returns_stay_below_the_last_known_caller(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    return_to(s, at('x', 0x33));
    return_to(s, at('y', 0x33));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b()ty?(x?()))$");
    assert_int_equal(repaired(s), 1);
}

static void a_return_to_a_function_start_is_a_jump(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    return_to(s, at('c', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b()tc())$");
    assert_int_equal(repaired(s), 0);
}

static void a_return_out_of_deep_recursion_is_matched(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    for (int i = 0; i < 2000; i++)
        call(s, at('b', 0x10), 'b');
    return_after(s, at('a', 0x10));
    assert_int_equal(repaired(s), 0);
    assert_int_equal(thread_stack_leaf(&s->stack)->function, id_of('a'));
}

static void a_caller_can_continue_where_the_next_function_begins(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('b', 0) - SCENE_CALL_LENGTH, 'c');
    return_to(s, at('b', 0));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(c())tb())$");
}

static void a_return_to_the_start_of_the_caller_begins_it_again(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    return_to(s, at('a', 0));
    return_after(s, at('a', 0x10));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(b()ta()))$");
}

static void a_function_begun_by_a_return_can_return_to_the_one_that_began_it(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    return_to(s, at('c', 0));
    return_to(s, at('b', 0x50));
    assert_spans(s, "a(b()tc()tb()$)$");
}

static void a_return_ends_a_system_call_whose_end_was_missed(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    system_call(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(S()))$");
    assert_int_equal(repaired(s), 1);
}

/* Jumps. */

static void a_return_to_a_function_start_discovers_no_caller(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    return_to(s, at('c', 0));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?()tc())$");
}

static void a_tail_call_replaces_the_leaf_and_keeps_the_caller(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    jump(s, at('c', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b()tc())$");
}

static void a_tail_call_of_an_active_function_is_no_unwinding(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    jump(s, at('b', 0));
    return_after(s, at('b', 0x10));
    assert_spans(s, "a(b(c()tb())$)$");
}

static void a_tail_call_of_the_root_keeps_its_caller_discoverable(void **state)
{
    struct scene *s = *state;
    resume(s, at('b', 0x10));
    jump(s, at('c', 0));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?()tc())$");
}

static void a_jump_inside_the_leaf_changes_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    jump(s, at('a', 0x40));
    assert_spans(s, "a()$");
}

static void a_loop_over_the_whole_function_changes_nothing(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    jump(s, at('a', 0));
    assert_spans(s, "a()$");
}

static void a_jump_ends_a_system_call_whose_end_was_missed(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    jump(s, at('b', 0));
    assert_spans(s, "a(S())tb()$");
}

static void a_jump_can_be_a_return(void **state)
{
    struct scene *s = *state;
    add_landing_pad(s, at('a', 0x20), at('a', 0x15)); /* not for a jump that leaves the stack */
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x20), 'a');
    call(s, at('a', 0x10), 'b');
    jump(s, at('a', 0x15));
    assert_int_equal(s->stack.statistics.unwound, 0);
    assert_spans(s, "m(a(a(b())$)$)$");
}

static void a_jump_can_be_a_long_return(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    jump(s, at('a', 0x15));
    assert_spans(s, "m(a(b(c()u))$)$");
}

static void a_jump_inside_a_recursive_function_is_no_return(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'a');
    jump(s, at('a', 0x15));
    assert_spans(s, "a(a()$)$");
}

static void a_jump_into_the_middle_of_an_ancestor_unwinds_to_it_at_once(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    call(s, at('c', 0x10), 'd');
    jump(s, at('a', 0x14));
    assert_spans(s, "a(b(c(d()u)u)u)$");
    assert_int_equal(s->stack.statistics.unwound, 1);
}

static void unwinding_takes_the_innermost_activation(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    jump(s, at('a', 0x14));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(a(b()u))$");
}

static void a_return_into_the_middle_of_an_ancestor_unwinds_to_it_at_once(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    call(s, at('c', 0x10), 'd');
    return_to(s, at('b', 0x70));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c(d()u)u))$");
}

static void a_jump_back_from_a_cold_part_stays_in_its_activation(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'f');
    call(s, at('f', 0x10), 'f');
    jump(s, at('c', 0x20)); /* f.cold */
    jump(s, at('f', 0x30));
    return_after(s, at('f', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(f(f()tc()tf()))$");
    assert_int_equal(repaired(s), 0);
}

static void
a_direct_jump_into_a_cold_part_that_is_open_further_out_stays_in_its_activation(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'f');
    direct_jump(s, at('c', 0x20)); /* f.cold */
    call(s, at('c', 0x30), 'f');
    direct_jump(s, at('c', 0x40));
    return_after(s, at('c', 0x30));
    direct_jump(s, at('f', 0x50));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(f()tc(f()tc())tf())$");
    assert_int_equal(repaired(s), 0);
}

static void a_jump_into_the_middle_of_a_new_function_replaces_the_leaf(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    jump(s, at('c', 0x123));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b()tc())$");
}

/* Kernel entries. */

static void a_system_call_is_a_span_until_tracing_resumes_after_it(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x12));
    call(s, at('a', 0x20), 'b');
    assert_spans(s, "a(S()b()$)$");
}

static void a_restarted_system_call_is_two(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x10));
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x12));
    assert_spans(s, "a(S()S())$");
}

static void a_restarted_system_call_at_a_function_start_is_no_signal(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0));
    resume(s, at('a', 0));
    system_call(s, at('a', 0));
    resume(s, at('a', 2));
    assert_spans(s, "a(S()S())$");
}

static void a_trace_can_end_in_a_system_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    assert_spans(s, "a(S()$)$");
}

static void a_segment_can_begin_with_a_system_call(void **state)
{
    struct scene *s = *state;
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x12));
    assert_spans(s, "a?(S())$");
}

static void a_fault_is_a_span_until_its_instruction_is_done_again(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0));
    resume(s, at('b', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()))$");
}

static void resuming_elsewhere_in_the_interrupted_function_is_no_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x10));
    resume(s, at('a', 0x80)); /* an rseq abort handler */
    assert_spans(s, "a(I())$");
}

static void resuming_in_the_middle_of_another_function_replaces_the_leaf(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x10));
    resume(s, at('c', 0x80)); /* a debugger or a handler has moved it */
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I())tc())$");
}

static void a_missed_resume_ends_the_system_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    call(s, at('a', 0x20), 'b');
    assert_spans(s, "a(S()b()$)$");
    assert_int_equal(repaired(s), 1);
}

static void a_traced_kernel_lies_on_the_user_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call_into(s, at('a', 0x10), at('k', 0));
    call(s, at('k', 0x10), 'l');
    interrupt_into(s, at('l', 0x10), at('m', 0));
    kernel_return(s, at('l', 0x10));
    return_after(s, at('k', 0x10));
    kernel_return(s, at('a', 0x12));
    call(s, at('a', 0x20), 'b');
    assert_spans(s, "a(k(l(m()))b()$)$");
    assert_int_equal(repaired(s), 0);
}

static void a_kernel_return_ends_all_kernel_frames(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call_into(s, at('a', 0x10), at('k', 0));
    call(s, at('k', 0x10), 'l');
    kernel_return(s, at('a', 0x12));
    assert_spans(s, "a(k(l()))$");
}

static void a_recording_can_begin_inside_the_kernel(void **state)
{
    struct scene *s = *state;
    resume(s, at('l', 0x30));
    return_to(s, at('k', 0x15));
    kernel_return(s, at('a', 0x12));
    assert_spans(s, "a?(k?(l?()))$");
}

static void a_segment_can_begin_with_a_traced_kernel_entry(void **state)
{
    struct scene *s = *state;
    system_call_into(s, at('a', 0x10), at('k', 0));
    kernel_return(s, at('a', 0x12));
    gap(s, FLOW_GAP_OVERFLOW, 0);
    kernel_return(s, at('b', 0x12));
    assert_spans(s, "a?(k())g!b?()$");
}

/* Signals. r is the restorer. */

static void a_signal_handler_lies_on_what_it_interrupts(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    call(s, at('h', 0x10), 'i');
    return_after(s, at('h', 0x10));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h(i())r(S())))$");
    assert_int_equal(repaired(s), 0);
}

static void a_signal_interrupts_a_system_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x12));
    call(s, at('a', 0x20), 'b');
    assert_spans(s, "a(S()h()r(S())b()$)$");
}

static void a_system_call_is_restarted_after_its_signal(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x10));
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x12));
    assert_spans(s, "a(S()h()r(S())S())$");
}

static void a_signal_can_interrupt_the_first_instruction(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('b', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S())))$");
}

static void a_call_made_by_a_handler_can_return_to_the_start_of_what_it_interrupted(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x4));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('c', 0));
    return_to(s, at('b', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(I()h()r(S())c()))$");
}

static void an_interrupt_in_the_restorer_does_not_end_it(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    interrupt(s, at('r', 0x3));
    resume(s, at('r', 0x5));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x20));
    assert_spans(s, "a(I()h()r(I()S()))$");
}

static void a_signal_can_interrupt_the_restorer(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    interrupt(s, at('r', 0x3));
    resume(s, at('i', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('r', 0x3));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x20));
    assert_spans(s, "a(I()h()r(I()i()r(S())S()))$");
}

static void an_exception_can_land_in_what_the_handler_interrupted(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('b', 0x70));
    assert_spans(s, "a(b(I()h()u)$)$");
}

static void a_system_call_ends_one_whose_end_was_missed(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    system_call(s, at('a', 0x20));
    system_call_into(s, at('a', 0x30), at('k', 0));
    assert_int_equal(repaired(s), 2);
    assert_spans(s, "a(S()S()k()$)$");
}

static void functions_that_the_symbols_give_a_special_number_are_unknown(void **state)
{
    static const uint64_t special[] = {FUNCTION_SYSCALL, FUNCTION_INTERRUPT, FUNCTION_UNTRACED};
    struct scene *s = *state;
    resume(s, at('a', 0));
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        call_into(s, at('a', 0x10), (special[i] << 16) + 0x10);
        call(s, (special[i] << 16) + 0x20, 'b');
        return_after(s, at('a', 0x10));
    }
    assert_spans(s, "a(?(b()u)?(b()u)?(b()u))$");
}

static void a_handler_first_seen_after_its_start_lies_on_the_system_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    system_call(s, at('a', 0x10));
    resume(s, at('h', 4));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x12));
    assert_spans(s, "m(a(S()h()r(S()))$)$");
}

static void a_handler_can_be_the_function_it_interrupts(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 2));
    resume(s, at('b', 0));
    assert_spans(s, "a(b(I()b()$)$)$");
}

static void
an_interrupt_that_ends_elsewhere_in_a_recursive_function_is_no_unwind_target(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'a');
    interrupt(s, at('a', 0x20));
    resume(s, at('a', 0x60));
    call(s, at('a', 0x70), 'c');
    assert_spans(s, "a(a(I()c()$)$)$");
    assert_int_equal(s->stack.segments.count, 1);
}

static void signals_nest(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    interrupt(s, at('h', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('h', 0x20));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x20));
    call(s, at('a', 0x30), 'b');
    assert_spans(s, "a(I()h(I()h()r(S()))r(S())b()$)$");
    assert_int_equal(repaired(s), 0);
}

static void the_next_signal_can_begin_where_one_ends(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('i', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x20));
    assert_spans(s, "a(I()h()r(S())i()r(S()))$");
}

static void a_handler_can_rewrite_the_context(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x99));
    assert_spans(s, "a(b(I()h()r(S()))u)$");
}

static void siglongjmp_leaves_a_handler(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    call(s, at('h', 0x10), 'l');
    jump(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h(l()u)u)u)$");
}

static void an_exception_leaves_a_handler(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    return_to(s, at('a', 0x70));
    assert_spans(s, "a(b(I()h()u)u)$");
}

static void no_return_ends_a_handler_at_what_it_interrupted(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt(s, at('b', 0x20));
    resume(s, at('h', 0));
    call(s, at('h', 0x10), 'c');
    return_to(s, at('b', 0x20));
    assert_spans(s, "a(b(I()h(c()u)u)$)$");
    assert_int_equal(repaired(s), 1);
}

static void a_signal_interrupts_a_plt_stub(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'p');
    interrupt(s, at('p', 0x4));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('p', 0x4));
    jump(s, at('f', 0));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(p(I()h()r(S()))tf())$");
}

static void the_interrupted_function_is_discovered_when_tracing_began_in_a_handler(void **state)
{
    struct scene *s = *state;
    resume(s, at('h', 0x10));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('b', 0x20));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?(h?()tr(S())))$");
}

static void resuming_further_out_after_a_system_call_unwinds(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    system_call(s, at('c', 0x10));
    resume(s, at('b', 0x40));
    assert_spans(s, "a(b(c(S())u)$)$");
}

static void resuming_elsewhere_in_the_first_function_after_a_system_call_is_no_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x40));
    assert_spans(s, "a(S())$");
}

static void the_next_signal_can_have_the_handler_that_was_interrupted(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    interrupt(s, at('h', 0x20));
    resume(s, at('i', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('h', 0x20));
    assert_spans(s, "a(I()h(I()i()r(S())h()r(S()))$)$");
}

static void
a_handler_can_make_the_program_go_on_in_what_was_open_before_an_unwind_target(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    jump_in_stack(s, at('a', 0x35)); /* in one of the a's */
    interrupt(s, at('a', 0x40));
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
    system_call(s, at('r', 0x7));
    resume(s, at('m', 0x40));
    assert_spans(s, "m(a(a(b()uI()h()r(S()))u)u)$");
}

/* Pauses, gaps, exec. */

static void a_pause_is_shown_when_tracing_continues(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    stop(s, at('b', 0x20));
    resume(s, at('b', 0x30));
    return_after(s, at('a', 0x10));
    stop(s, at('a', 0x20));
    assert_spans(s, "a(b(U()))$");
}

static void a_pause_has_its_length(void **state)
{
    struct scene *s = *state;
    struct replay replay;
    struct replay_event event;
    resume(s, at('a', 0));
    stop(s, at('a', 0x20));
    s->time += 90;
    resume(s, at('a', 0x30));
    assert_spans(s, "a(U())$");

    replay_init(&replay, &s->stack);
    assert_true(replay_next(&replay, &event));
    assert_true(replay_next(&replay, &event));
    assert_int_equal(event.time.value, 1010);
    assert_true(replay_next(&replay, &event));
    assert_int_equal(event.time.value, 1110);
    replay_free(&replay);
}

static void functions_may_have_returned_during_a_pause(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    stop(s, at('c', 0x20));
    resume(s, at('a', 0x30));
    assert_spans(s, "a(b(c(U())))$");
}

static void a_pause_that_ends_in_an_unknown_function_ends_the_segment(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    stop(s, at('a', 0x20));
    resume(s, at('x', 0x30));
    return_to(s, at('y', 0x15));
    assert_spans(s, "a(U())gy?(x?())$");
}

static void a_resume_for_no_reason_continues_where_it_can(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    resume(s, at('b', 0x20));
    resume(s, at('a', 0x20));
    assert_spans(s, "a(b())$");
    assert_int_equal(repaired(s), 1);
}

static void spans_that_continue_after_a_gap_are_one(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(!)+)$+");
}

static void a_gap_in_which_time_was_lost_lies_inside_of_what_continues(void **state)
{
    struct scene *s = *state;
    struct replay replay;
    struct replay_event event;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    s->time += 490;
    resume(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(c()g!O())+)$+");

    replay_init(&replay, &s->stack);
    for (int i = 0; i < 6; i++)
        assert_true(replay_next(&replay, &event));
    assert_int_equal(event.kind, SPAN_ENTER);
    assert_int_equal(event.place.value, 1030);
    assert_true(replay_next(&replay, &event));
    assert_int_equal(event.kind, SPAN_LEAVE);
    assert_int_equal(event.place.value, 1530);
    replay_free(&replay);
}

static void without_stitching_a_gap_ends_all_spans(void **state)
{
    struct scene *s = *state;
    s->stack.no_stitching = true;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    gap(s, FLOW_GAP_ERROR, 0);
    resume(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b()g)g!a?(b?())$");
}

static void a_gap_in_which_time_was_lost_has_its_length(void **state)
{
    struct scene *s = *state;
    struct replay replay;
    struct replay_event event;
    resume(s, at('a', 0));
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    s->time += 490;
    resume(s, at('b', 0x20));
    assert_spans(s, "a()g!O()b?()$");

    replay_init(&replay, &s->stack);
    for (int i = 0; i < 4; i++)
        assert_true(replay_next(&replay, &event));
    assert_int_equal(event.time.value, 1010);
    assert_true(replay_next(&replay, &event));
    assert_int_equal(event.time.value, 1510);
    replay_free(&replay);
}

static void gaps_can_follow_each_other_and_end_the_trace(void **state)
{
    struct scene *s = *state;
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    gap(s, FLOW_GAP_LOST, FLOW_TIME_LOST);
    assert_spans(s, "!O()!");
}

static void a_pause_before_a_gap_is_shown(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    stop(s, at('a', 0x20));
    gap(s, FLOW_GAP_OVERFLOW, 0);
    assert_spans(s, "a(U()g)g!");
}

static void exec_ends_everything(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    system_call(s, at('b', 0x10));
    s->program_changes++;
    resume(s, at('s', 0));
    call(s, at('s', 0x10), 't');
    assert_spans(s, "a(b(S()e)e)es(t()$)$");
}

static void programs_changed_before_the_first_event_do_not_matter(void **state)
{
    struct scene *s = *state;
    s->program_changes = 3;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    resume(s, at('a', 0x12));
    assert_spans(s, "a(S())$");
}

static void a_stop_before_anything_was_seen_is_no_pause(void **state)
{
    struct scene *s = *state;
    stop(s, at('a', 0x20));
    gap(s, FLOW_GAP_OVERFLOW, 0);
    assert_spans(s, "!");
}

static void a_stop_in_a_system_call_is_no_pause(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    system_call(s, at('a', 0x10));
    stop(s, at('a', 0x10));
    resume(s, at('a', 0x12));
    assert_spans(s, "a(S())$");
}

static void callers_reported_after_a_pause_are_known(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    stop(s, at('a', 0x20));
    resume(s, at('x', 0x30));
    caller(s, at('y', 0x15));
    assert_spans(s, "a(U())gy?(x?()$)$");
}

static void a_function_start_after_a_gap_may_be_no_beginning(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    gap(s, FLOW_GAP_LOST, 0);
    resume(s, at('b', 0));
    assert_spans(s, "a()g!b?()$");
}

static void exec_happens_once(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    s->program_changes++;
    resume(s, at('s', 0));
    system_call(s, at('s', 0x10));
    resume(s, at('s', 0x12));
    assert_spans(s, "a()es(S())$");
}

static void tracing_that_continues_without_a_resume_has_not_paused(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    stop(s, at('a', 0x20));
    call(s, at('a', 0x30), 'b');
    resume(s, at('b', 0x40));
    assert_spans(s, "a(b()$)$");
}

static void programs_changed_before_a_first_gap_do_not_matter(void **state)
{
    struct scene *s = *state;
    s->program_changes = 3;
    gap(s, FLOW_GAP_OVERFLOW, 0);
    resume(s, at('b', 0));
    assert_spans(s, "!b?()$");
}

/* Limits. */

static void time_never_goes_backwards(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    s->time = 500;
    call(s, at('a', 0x10), 'b');
    assert_int_equal(s->stack.now.value, 1000);
    assert_spans(s, "a(b()$)$");
}

static void running_out_of_frame_ids_is_a_gap_and_is_counted(void **state)
{
    struct scene *s = *state;
    s->stack.tree.limit = 10;
    resume(s, at('a', 0));
    for (uint64_t i = 0; i < 20; i++)
        call(s, at('a', 0x10 * i), 'a');
    assert_spans(s, "a(a(a(a(a()g)g)g)g)g!O()");
    assert_true(s->stack.statistics.ignored == 16);
}

static void every_call_of_a_frame_seen_before_costs_no_new_frame(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    for (int i = 0; i < 1000; i++) {
        call(s, at('a', 0x10), 'b');
        jump(s, at('c', 0));
        return_after(s, at('a', 0x10));
        call(s, at('a', 0x20), 'b');
        return_after(s, at('a', 0x20));
    }
    assert_true(s->stack.tree.frames.count < 10);
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(calls_and_returns_nest),
        RULE(direct_recursion_is_kept),
        RULE(callers_are_discovered_and_entered_outer_first),
        RULE(recursion_above_the_root_is_discovered),
        RULE(a_segment_can_begin_with_a_call),
        RULE(a_segment_can_begin_with_a_return_or_jump),
        RULE(a_first_function_seen_from_its_start_is_not_inferred),
        RULE(a_first_function_seen_from_its_middle_is_inferred),
        RULE(a_function_start_after_a_gap_is_no_new_call),
        RULE(a_long_return_ends_all_frames_up_to_its_own),
        RULE(a_long_return_is_matched_by_address_not_by_name),
        RULE(a_long_return_past_a_root_that_was_called_discovers_the_caller),
        RULE(a_return_elsewhere_from_a_root_that_was_called_discovers_a_caller),
        RULE(the_return_address_of_a_discovered_root_is_not_that_of_the_first),
        RULE(a_lost_call_is_repaired_without_a_new_frame),
        RULE(a_lost_call_in_the_root_is_repaired_without_a_new_frame),
        RULE(a_lost_return_is_repaired_by_the_next_one),
        RULE(unmatched_returns_stay_below_the_last_known_caller),
        RULE(a_return_to_a_function_start_is_a_jump),
        RULE(a_return_to_a_function_start_discovers_no_caller),
        RULE(a_tail_call_replaces_the_leaf_and_keeps_the_caller),
        RULE(a_tail_call_of_an_active_function_is_no_unwinding),
        RULE(a_tail_call_of_the_root_keeps_its_caller_discoverable),
        RULE(a_jump_inside_the_leaf_changes_nothing),
        RULE(a_loop_over_the_whole_function_changes_nothing),
        RULE(a_jump_into_the_middle_of_an_ancestor_unwinds_to_it_at_once),
        RULE(unwinding_takes_the_innermost_activation),
        RULE(a_return_into_the_middle_of_an_ancestor_unwinds_to_it_at_once),
        RULE(a_jump_back_from_a_cold_part_stays_in_its_activation),
        RULE(a_direct_jump_into_a_cold_part_that_is_open_further_out_stays_in_its_activation),
        RULE(a_jump_into_the_middle_of_a_new_function_replaces_the_leaf),
        RULE(a_system_call_is_a_span_until_tracing_resumes_after_it),
        RULE(a_restarted_system_call_is_two),
        RULE(a_restarted_system_call_at_a_function_start_is_no_signal),
        RULE(a_trace_can_end_in_a_system_call),
        RULE(a_segment_can_begin_with_a_system_call),
        RULE(a_fault_is_a_span_until_its_instruction_is_done_again),
        RULE(resuming_elsewhere_in_the_interrupted_function_is_no_call),
        RULE(resuming_in_the_middle_of_another_function_replaces_the_leaf),
        RULE(a_missed_resume_ends_the_system_call),
        RULE(a_traced_kernel_lies_on_the_user_stack),
        RULE(a_kernel_return_ends_all_kernel_frames),
        RULE(a_recording_can_begin_inside_the_kernel),
        RULE(a_segment_can_begin_with_a_traced_kernel_entry),
        RULE(a_signal_handler_lies_on_what_it_interrupts),
        RULE(a_signal_interrupts_a_system_call),
        RULE(a_system_call_is_restarted_after_its_signal),
        RULE(a_signal_can_interrupt_the_first_instruction),
        RULE(an_interrupt_in_the_restorer_does_not_end_it),
        RULE(a_call_made_by_a_handler_can_return_to_the_start_of_what_it_interrupted),
        RULE(signals_nest),
        RULE(the_next_signal_can_begin_where_one_ends),
        RULE(a_handler_can_rewrite_the_context),
        RULE(siglongjmp_leaves_a_handler),
        RULE(an_exception_leaves_a_handler),
        RULE(no_return_ends_a_handler_at_what_it_interrupted),
        RULE(a_signal_interrupts_a_plt_stub),
        RULE(the_interrupted_function_is_discovered_when_tracing_began_in_a_handler),
        RULE(a_pause_is_shown_when_tracing_continues),
        RULE(a_pause_has_its_length),
        RULE(functions_may_have_returned_during_a_pause),
        RULE(a_pause_that_ends_in_an_unknown_function_ends_the_segment),
        RULE(a_resume_for_no_reason_continues_where_it_can),
        RULE(spans_that_continue_after_a_gap_are_one),
        RULE(a_gap_in_which_time_was_lost_lies_inside_of_what_continues),
        RULE(without_stitching_a_gap_ends_all_spans),
        RULE(a_gap_in_which_time_was_lost_has_its_length),
        RULE(gaps_can_follow_each_other_and_end_the_trace),
        RULE(a_pause_before_a_gap_is_shown),
        RULE(exec_ends_everything),
        RULE(programs_changed_before_the_first_event_do_not_matter),
        RULE(time_never_goes_backwards),
        RULE(running_out_of_frame_ids_is_a_gap_and_is_counted),
        RULE(every_call_of_a_frame_seen_before_costs_no_new_frame),
        RULE(resuming_further_out_after_a_system_call_unwinds),
        RULE(resuming_elsewhere_in_the_first_function_after_a_system_call_is_no_call),
        RULE(the_next_signal_can_have_the_handler_that_was_interrupted),
        RULE(a_handler_can_make_the_program_go_on_in_what_was_open_before_an_unwind_target),
        RULE(a_local_call_that_returns_elsewhere_was_a_jump),
        RULE(a_return_out_of_a_local_call_ends_it),
        RULE(a_call_into_the_middle_of_another_function_is_not_local),
        RULE(a_recursive_call_is_not_local),
        RULE(a_return_out_of_deep_recursion_is_matched),
        RULE(a_caller_can_continue_where_the_next_function_begins),
        RULE(a_return_to_the_start_of_the_caller_begins_it_again),
        RULE(a_function_begun_by_a_return_can_return_to_the_one_that_began_it),
        RULE(a_return_ends_a_system_call_whose_end_was_missed),
        RULE(a_jump_ends_a_system_call_whose_end_was_missed),
        RULE(a_jump_can_be_a_return),
        RULE(a_jump_can_be_a_long_return),
        RULE(a_jump_inside_a_recursive_function_is_no_return),
        RULE(a_signal_can_interrupt_the_restorer),
        RULE(an_exception_can_land_in_what_the_handler_interrupted),
        RULE(a_system_call_ends_one_whose_end_was_missed),
        RULE(functions_that_the_symbols_give_a_special_number_are_unknown),
        RULE(a_handler_first_seen_after_its_start_lies_on_the_system_call),
        RULE(a_handler_can_be_the_function_it_interrupts),
        RULE(an_interrupt_that_ends_elsewhere_in_a_recursive_function_is_no_unwind_target),
        RULE(a_stop_before_anything_was_seen_is_no_pause),
        RULE(a_stop_in_a_system_call_is_no_pause),
        RULE(callers_reported_after_a_pause_are_known),
        RULE(a_function_start_after_a_gap_may_be_no_beginning),
        RULE(exec_happens_once),
        RULE(tracing_that_continues_without_a_resume_has_not_paused),
        RULE(programs_changed_before_a_first_gap_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
