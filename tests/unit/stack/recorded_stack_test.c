/* What a recording may contain of stacks: callers after a resume (recorded_callers.h), the stack
 * pointer where it is loaded (stack_pointer.h).
 */
#include "scene.h"

#include "stack/rules/calls_on_other_stack.h"
#include "stack/rules/stack_pointer.h"
#include "stack/rules/stack_switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Stack pointers: of the thread's own stack, and of two others. */
enum { MAIN = 0x70000, ONE = 0x20000, TWO = 0x30000 };

/* --- Callers --- */

static void reported_callers_are_active_from_the_beginning(void **state)
{
    struct scene *s = *state;
    resume(s, at('c', 0x40));
    caller(s, at('b', 0x15));
    caller(s, at('a', 0x15));
    no_caller(s);
    return_to(s, at('b', 0x15));
    assert_spans(s, "a?(b?(c?())$)$");
}

static void callers_beyond_all_measure_are_not_learned(void **state)
{
    enum { GAPS = 4, REPORTED = 1 << 16 };
    struct scene *s = *state;
    for (int i = 0; i < GAPS; i++) {
        resume(s, at('a', 0x40));
        for (int j = 0; j < REPORTED; j++)
            caller(s, at('a', 0x15));
        gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    }
    assert_in_range(s->stack.tree.frames.count, REPORTED, REPORTED + REPORTED / 64);
    return_to(s, at('b', 0x15));
    assert_int_equal(thread_stack_leaf(&s->stack)->function, id_of('b'));
}

static void callers_of_a_known_stack_are_ignored(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    system_call(s, at('b', 0x10));
    resume(s, at('b', 0x12));
    caller(s, at('z', 0x15));
    no_caller(s);
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b(S()))$");
}

static void a_reported_caller_is_returned_to_by_its_address(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0x40));
    caller(s, at('a', 0x15));
    caller(s, at('a', 0x25));
    caller(s, at('m', 0x15));
    no_caller(s);
    return_to(s, at('a', 0x15));
    return_to(s, at('a', 0x25));
    return_to(s, at('m', 0x15));
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_spans(s, "m?(a?(a?(a?())))$");
}

static void a_reported_handler_returns_to_what_it_interrupted(void **state)
{
    struct scene *s = *state;
    resume(s, at('h', 0x40));
    interrupted_caller(s, at('b', 0x30));
    caller(s, at('a', 0x15));
    no_caller(s);
    return_to(s, at('r', 0)); /* the restorer */
    system_call(s, at('r', 0x10));
    resume(s, at('b', 0x30));
    return_to(s, at('a', 0x15));
    assert_spans(s, "a?(b?(h?()r(S())))$");
}

/* a was suspended before the first event, and has called b by the time that its callers are named. */
static void callers_of_a_stack_that_continues_may_be_named_later(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 's');
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    resume(s, at('s', 0x40));
    stack_pointer(s, MAIN);
    return_loading_stack(s, at('a', 0x15), ONE);
    call(s, at('a', 0x20), 'b');
    placed_caller(s, at('a', 0x25));
    caller(s, at('c', 0x15));
    no_caller(s);
    return_to(s, at('a', 0x25));
    return_to(s, at('c', 0x15));
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_int_equal(thread_stack_leaf(&s->stack)->function, id_of('c'));
}

static void named_callers_that_are_not_those_of_the_known_frames_are_not_believed(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0x40));
    call(s, at('a', 0x50), 'b');
    placed_caller(s, at('a', 0x85));
    caller(s, at('c', 0x15));
    return_after(s, at('a', 0x50));
    assert_spans(s, "a?(b())$");
}

/* Without its callers it would be unknown which of the a's continued. */
static void stacks_that_are_whole_are_stitched_from_their_roots(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    no_caller(s);
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'a');
    call(s, at('a', 0x10), 'a');
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    resume(s, at('a', 0x40));
    caller(s, at('a', 0x15));
    caller(s, at('m', 0x15));
    no_caller(s);
    return_after(s, at('a', 0x10));
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(a(a(a()g!O())+)+)$+");
}

/* --- The stack pointer --- */

/* Fiber f, on ONE, begins; then the thread's own stack continues, then f. All switch in `s`, which
 * is called from one place in each, so addresses do not distinguish them. */
static void switch_to_start(struct scene *s, uint64_t from, uint64_t to, char function)
{
    stack_pointer(s, from);
    return_loading_stack(s, at(function, 0), to);
}

static void switch_to_call(struct scene *s, uint64_t from, uint64_t to, uint64_t call_site)
{
    stack_pointer(s, from);
    return_loading_stack(s, call_site + SCENE_CALL_LENGTH, to);
}

/* a was left without a recorded pointer, so nothing says that what continues in the middle of an a, on
 * a stack that was not seen before, is that one. */
static void a_stack_without_a_pointer_is_not_the_nearest(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    stack_pointer(s, TWO);
    return_loading_stack(s, at('a', 0x50), ONE);
    assert_spans(s, "a(s()s)sf(s()s)sa?()$");
}

static void of_stacks_suspended_in_one_place_the_pointer_chooses(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_start(s, ONE - 0x100, TWO, 'g');
    call(s, at('g', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, TWO - 0x100, ONE - 0xf8, at('y', 0x10)); /* not the running one */
    return_after(s, at('f', 0x10));
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_spans(s, "a(s()s)sf(y(s()s)s)sg(y(s()s)s)sf?(y?())$");
}

/* `a` has started `f` on a stack of its own, which was left in `y`, and goes on itself. */
static void leave_a_fiber(struct scene *s)
{
    s->stack.begins_anywhere = true;
    resume(s, at('a', 0x10));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN, at('a', 0x10));
}

/* f's has been copied away, and another one lies there that the recording has not seen. */
static void a_stack_further_in_than_the_one_that_was_left_is_another(void **state)
{
    struct scene *s = *state;
    leave_a_fiber(s);
    assert_stack(s, "a");
    call(s, at('a', 0x20), 's');
    switch_to_call(s, MAIN, ONE - 0x140, at('y', 0x10));
    assert_stack(s, "y");
}

static void of_stacks_that_were_left_with_one_pointer_none_is_chosen(void **state)
{
    struct scene *s = *state;
    leave_a_fiber(s);
    call(s, at('a', 0x20), 's');
    switch_to_call(s, MAIN, ONE - 0x400, at('y', 0x10));
    return_after(s, at('g', 0x10));
    call(s, at('g', 0x20), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN, at('a', 0x20));
    call(s, at('a', 0x30), 's');
    switch_to_call(s, MAIN, ONE - 0x100, at('y', 0x10));
    assert_stack(s, "y");
}

/* `a` resumes a stack that was left in `y`; f's has number 7. */
static void resume_numbered(struct scene *s, uint64_t call_site, uint32_t number)
{
    call(s, call_site, 's');
    copied_stacks(s, 0, number);
    switch_to_call(s, MAIN, ONE - 0x100, at('y', 0x10));
}

static void leave_numbered(struct scene *s, uint64_t pointer, uint32_t number, uint64_t call_site)
{
    copied_stacks(s, number, 0);
    switch_to_call(s, pointer, MAIN, call_site);
}

static void of_stacks_that_share_memory_the_one_with_the_number_continues(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('a', 0x10));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    leave_numbered(s, ONE - 0x100, 7, at('a', 0x10));
    resume_numbered(s, at('a', 0x20), 8); /* it was left before the recording begins */
    assert_stack(s, "y");
    return_after(s, at('g', 0x10));
    call(s, at('g', 0x20), 'y');
    call(s, at('y', 0x10), 's');
    leave_numbered(s, ONE - 0x100, 9, at('a', 0x20));
    assert_stack(s, "a");
    resume_numbered(s, at('a', 0x30), 7);
    assert_stack(s, "yf");
    call(s, at('y', 0x10), 's');
    leave_numbered(s, ONE - 0x100, 7, at('a', 0x30));
    call(s, at('a', 0x40), 's');
    switch_to_start(s, MAIN, ONE, 'h'); /* ends none that has been copied away */
    call(s, at('h', 0x10), 's');
    leave_numbered(s, ONE - 0x40, 10, at('a', 0x40));
    resume_numbered(s, at('a', 0x50), 9);
    assert_stack(s, "yg");
}

/* `a` has begun `f` and `g` in the same memory, one after the other; g was left at `pointer`. */
static void begin_two_in_one_place(struct scene *s, uint64_t pointer)
{
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    switch_to_start(s, MAIN, ONE, 'g');
    call(s, at('g', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, pointer, MAIN, at('a', 0x20));
    call(s, at('a', 0x30), 's');
}

static void a_stack_in_whose_place_another_began_continues(void **state)
{
    struct scene *s = *state;
    begin_two_in_one_place(s, ONE - 0x200);
    switch_to_call(s, MAIN, ONE - 0x100, at('y', 0x10));
    assert_stack(s, "yf");
}

/* The one that began there last, as far as is known: the other one may have ended. */
static void of_two_stacks_that_began_in_one_place_the_newer_continues(void **state)
{
    struct scene *s = *state;
    begin_two_in_one_place(s, ONE - 0x100);
    switch_to_call(s, MAIN, ONE - 0x100, at('y', 0x10));
    assert_stack(s, "yg");
}

/* f has continued, so that stacks are copied away: both were left in the same place. */
static void once_stacks_are_copied_away_none_is_chosen(void **state)
{
    struct scene *s = *state;
    begin_two_in_one_place(s, ONE - 0x200);
    switch_to_call(s, MAIN, ONE - 0x100, at('y', 0x10));
    call(s, at('y', 0x10), 's');
    switch_to_call(s, ONE - 0x200, MAIN, at('a', 0x30));
    call(s, at('a', 0x40), 's');
    switch_to_call(s, MAIN, ONE - 0x200, at('y', 0x10));
    assert_stack(s, "y");
}

static void a_return_near_the_pointer_stays_in_its_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_start(s, ONE - 0x100, TWO, 'g');
    call(s, at('g', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, TWO - 0x100, TWO - 0xf8, at('y', 0x10)); /* to itself */
    return_after(s, at('g', 0x10));
    assert_spans(s, "a(s()s)sf(y(s()s)s)sg(y(s()))$");
}

static void a_stack_in_the_place_of_a_dead_one_is_new(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN + 8, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
    assert_spans(s, "a(s()s)sf(s()s)sa?(s()s)sf()$");
}

static void a_jump_far_away_lands_in_the_nearest_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    stack_pointer(s, ONE - 0x100);
    jump_loading_stack(s, at('a', 0x40), MAIN + 0x200); /* longjmp, out of b */
    assert_spans(s, "a(b(s()s)s)sf()sa?(b?(s?()u)u)$");
}

/* Its pointer was not recorded: a short block that loads the pointer records only the new one. */
static void a_stack_left_without_a_pointer_continues_where_it_would_return(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    return_to(s, at('f', 0));
    call(s, at('f', 0x10), 's');
    switch_to_call(s, ONE, MAIN, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_spans(s, "a(s()s)sf(s()s)sa?(s()$)$");
}

/* The same jump may be a longjmp in a recording without stack pointers. */
static void a_jump_that_loads_no_pointer_is_a_tail_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    no_caller(s);
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'c');
    jump(s, at('a', 0x40));
    return_after(s, at('b', 0x10));
    assert_spans(s, "a(b(c()ta())$)$");
}

static void pointers_reported_on_the_way_of_a_move_do_not_count(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    stack_pointer(s, MAIN);
    stack_pointer(s, ONE);
    return_loading_stack(s, at('f', 0), ONE);
    assert_spans(s, "a(s()s)sf()$");
}

static void what_moves_nothing_does_not_end_a_move(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    stack_pointer(s, MAIN);
    push_trap(s, at('s', 0x80));
    pop_trap(s);
    direct_jump(s, at('s', 0x50));
    stack_pointer(s, ONE);
    call(s, at('s', 0x60), 'f');
    assert_int_equal(s->stack.rules.calls_on_other_stack->calls.count, 1);
}

static void a_pointer_reported_once_is_no_move(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    stack_pointer(s, MAIN);
    call(s, at('a', 0x10), 'b');
    assert_int_equal(s->stack.rules.calls_on_other_stack->calls.count, 0);
    assert_int_equal(s->stack.rules.stack_pointer->last, MAIN);
}

static void two_stacks_alternate(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN + 8, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    switch_to_call(s, MAIN, ONE - 0xf8, at('f', 0x10));
    call(s, at('f', 0x20), 's');
    switch_to_call(s, ONE - 0x100, MAIN + 8, at('a', 0x20));
    assert_int_equal(s->stack.statistics.repaired, 0);
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
    assert_int_equal(s->stack.segments.count, 2);
    assert_spans(s, "a(s()s)sf(s()s)sa?(s()s)sf?(s()s)sa?()$");
}

static void a_move_beyond_the_top_of_a_stack_goes_to_another(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 's');
    switch_to_call(s, ONE - 0x100, TWO, at('z', 0x10)); /* MAIN is above, and f's stack below */
    assert_spans(s, "a(s()s)sf(s()s)sz?()$");
}

static void the_top_of_a_stack_is_known_when_it_continues(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN + 8, at('a', 0x10));
    call(s, at('a', 0x20), 's');
    switch_to_call(s, MAIN, ONE - 0xf8, at('f', 0x10));
    call(s, at('f', 0x20), 's');
    switch_to_call(s, ONE - 0x100, TWO, at('z', 0x10));
    assert_spans(s, "a(s()s)sf(s()s)sa?(s()s)sf?(s()s)sz?()$");
}

static void a_stack_does_not_continue_far_below_where_it_was_left(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN - 0x1000, at('a', 0x10));
    assert_spans(s, "m(a(s()s)s)sf(s()s)sa?()$");
}

/* The thread's own stack is below, so that it might continue at any pointer. */
static void switch_twice_above(struct scene *s)
{
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_start(s, 0x1000, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
}

static void of_stacks_that_may_continue_the_nearest_does(void **state)
{
    struct scene *s = *state;
    switch_twice_above(s);
    switch_to_start(s, ONE - 0x100, TWO, 'g');
    call(s, at('g', 0x10), 's');
    switch_to_call(s, TWO - 0x100, ONE - 0xf8, at('y', 0x10));
    return_after(s, at('f', 0x10));
    assert_spans(s, "a(y(s()s)s)sf(y(s()s)s)sg(s()s)sf?(y?())$");
}

static void the_nearest_may_have_pushed_more_before_it_was_left(void **state)
{
    struct scene *s = *state;
    switch_twice_above(s);
    switch_to_start(s, ONE - 0x100, TWO, 'g');
    call(s, at('g', 0x10), 's');
    switch_to_call(s, TWO - 0x100, ONE - 0x110, at('y', 0x10));
    return_after(s, at('f', 0x10));
    assert_spans(s, "a(y(s()s)s)sf(y(s()s)s)sg(s()s)sf?(y?())$");
}

static void the_running_stack_continues_if_it_is_the_nearest(void **state)
{
    struct scene *s = *state;
    switch_twice_above(s);
    switch_to_call(s, ONE - 0x100, ONE - 0xf8, at('y', 0x10));
    return_after(s, at('f', 0x10));
    assert_spans(s, "a(y(s()s)s)sf(y(s()))$");
}

static void
an_unwind_target_near_the_pointer_in_a_function_never_seen_stays_in_its_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'a');
    call(s, at('a', 0x10), 'b');
    stack_pointer(s, MAIN);
    jump_loading_stack(s, at('z', 0x40), MAIN + 0x40);
    assert_spans(s, "m(a(b()uz?()$)$)$");
}

/* Boost.Context begins stacks at a label of make_fcontext, which main has called: below main's stack, and far above it. */
static void a_stack_may_begin_in_the_middle_of_a_function(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'z');
    return_after(s, at('m', 0x10));
    call(s, at('m', 0x20), 's');
    stack_pointer(s, ONE);
    jump_loading_stack(s, at('z', 0x40), TWO);
    call(s, at('z', 0x50), 'f');
    assert_spans(s, "m(z()s()s)sz?(f()$)$");
}

/* Boost.Context's ontop_fcontext, with which a fiber ends. */
static void a_suspended_stack_may_continue_with_a_function_on_top(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 's');
    stack_pointer(s, MAIN);
    jump_loading_stack(s, at('f', 0), ONE);
    call(s, at('f', 0x10), 'e');
    stack_pointer(s, ONE - 0x40);
    jump_loading_stack(s, at('o', 0), MAIN);
    return_after(s, at('m', 0x10));
    assert_spans(s, "m(s()s)sf(e()s)sm?(s?()to())$");
}

/* The stack begins at the return instruction of s, which also runs in the one that is left. */
static void a_jump_to_where_no_stack_can_lie_begins_one(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 's');
    stack_pointer(s, MAIN);
    jump_loading_stack(s, at('s', 0x40), ONE);
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
}

/* An exception is caught in d, whose frame lies further out than where the stack was first seen. */
static void the_callers_that_were_discovered_lie_further_out(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('m', 0x10));
    call(s, at('m', 0x20), 's');
    stack_pointer(s, MAIN);
    jump_loading_stack(s, at('y', 0x10), ONE);
    return_after(s, at('d', 0x10));
    call(s, at('d', 0x20), 'f');
    call(s, at('f', 0x20), 'u');
    stack_pointer(s, ONE - 0x100);
    jump_loading_stack(s, at('d', 0x80), ONE + 0x300);
    assert_stack(s, "d");
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
}

/* Both stacks wait in s, which y has called; the switch jumps to the return instruction of s. */
static void a_return_after_a_switch_is_that_of_the_stack_that_continues(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    call(s, at('m', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    stack_pointer(s, ONE - 0x40);
    jump_loading_stack(s, at('s', 0x40), MAIN);
    return_after(s, at('y', 0x10));
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1);
    assert_spans(s, "m(y(s()s)s)sf(y(s()s)s)sm?(y?(s?())$)$");
}

/* Its callers lie further out than where it was first seen, so no new stack begins where it was left. */
static void a_function_may_run_on_top_of_a_stack_whose_callers_were_named(void **state)
{
    struct scene *s = *state;
    resume(s, at('m', 0));
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    resume(s, at('f', 0x40));
    stack_pointer(s, ONE);
    return_loading_stack(s, at('a', 0x15), MAIN);
    call(s, at('a', 0x20), 'b');
    placed_caller(s, at('a', 0x25));
    caller(s, at('c', 0x15));
    caller(s, at('d', 0x15));
    caller(s, at('e', 0x15));
    no_caller(s);
    return_to(s, at('a', 0x25));
    call(s, at('a', 0x30), 's');
    stack_pointer(s, MAIN);
    return_loading_stack(s, at('f', 0x45), ONE);
    stack_pointer(s, ONE);
    jump_loading_stack(s, at('o', 0), MAIN);
    return_to(s, at('a', 0x35));
    return_to(s, at('c', 0x15));
    return_to(s, at('d', 0x15));
    assert_int_equal(s->stack.statistics.repaired, 0);
    frame_id caller_of_d = thread_stack_parent(&s->stack, s->stack.leaf);
    assert_int_equal(thread_stack_frame(&s->stack, caller_of_d)->function, id_of('e'));
}

static void an_unwind_target_in_no_known_stack_begins_one(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    stack_pointer(s, ONE - 0x100);
    jump_loading_stack(s, at('z', 0x40), MAIN + 0x200);
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 2);
    assert_spans(s, "a(s()s)sf()sz?()$");
}

static void a_new_stack_below_others_is_not_in_their_place(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, TWO, 'f');
    call(s, at('f', 0x10), 's');
    switch_to_start(s, TWO - 0x100, ONE, 'g');
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 2);
}

static void a_return_to_a_function_start_near_the_pointer_is_a_tail_call(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    switch_to_start(s, MAIN, MAIN + 8, 'f');
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(b()tf())$");
}

/* The handler h, in a, has switched to f. */
static void switch_from_handler(struct scene *s)
{
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    switch_to_start(s, MAIN, ONE, 'f');
}

static void a_handler_that_had_switched_away_returns_to_its_restorer(void **state)
{
    struct scene *s = *state;
    switch_from_handler(s);
    switch_to_start(s, ONE - 0x100, MAIN + 8, 'r');
    system_call(s, at('r', 0x7));
    resume(s, at('a', 0x20));
    assert_spans(s, "a(I()h()s)sf()sa?(h?()r(S()))$");
}

static void a_new_stack_is_no_restorer_of_a_handler_that_had_switched_away(void **state)
{
    struct scene *s = *state;
    switch_from_handler(s);
    switch_to_start(s, ONE - 0x100, TWO, 'g');
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 2);
    assert_spans(s, "a(I()h()s)sf()sg()$");
}

/* --- Handlers that swap the context --- */

static void interrupt_for_handler(struct scene *s, uint64_t interrupted)
{
    interrupt(s, interrupted);
    resume(s, at('h', 0));
    return_to(s, at('r', 0));
}

static void restore(struct scene *s, uint64_t interrupted, uint64_t restored, uint64_t to)
{
    stack_pointer(s, interrupted);
    stack_pointer(s, restored);
    system_call(s, at('r', 0x7));
    resume(s, to);
}

static void a_handler_can_return_to_another_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt_for_handler(s, at('b', 0x20));
    restore(s, MAIN, ONE, at('f', 0));
    call(s, at('f', 0x10), 'b');
    interrupt_for_handler(s, at('b', 0x20));
    restore(s, ONE - 0x100, MAIN, at('b', 0x20));
    return_after(s, at('a', 0x10));
    interrupt_for_handler(s, at('a', 0x30));
    restore(s, MAIN + 8, ONE - 0x100, at('b', 0x20));
    return_after(s, at('f', 0x10));
    assert_spans(s, "a(b(I()h()r(S())s)s)sf(b(I()h()r(S())s)s)sa?(b?()I()h()r(S())s)sf?(b?())$");
}

static void a_handler_that_rewrites_the_context_stays_on_its_stack(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    interrupt_for_handler(s, at('b', 0x20));
    restore(s, MAIN, MAIN - 8, at('c', 0));
    return_to(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 0);
    assert_spans(s, "a(b(I()h()r(S())c()))$");
}

static void a_handler_on_a_stack_of_its_own_can_be_left_for_what_it_interrupted(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    stack_pointer(s, 0x90000);
    jump_loading_stack(s, at('a', 0x40), MAIN);
    assert_spans(s, "a(I()h()u)$");
}

static void a_new_stack_far_above_is_no_restorer_either(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    interrupt(s, at('a', 0x20));
    resume(s, at('h', 0));
    switch_to_start(s, 0x1000, ONE, 'f');
    switch_to_start(s, ONE - 0x100, TWO, 'g');
    assert_spans(s, "a(I()h()s)sf()sg()$");
}

/* `function` calls e, at e10, on another stack, which returns. */
static void call_elsewhere(struct scene *s, char function)
{
    stack_pointer(s, MAIN);
    stack_pointer(s, 0x60000);
    call(s, at(function, 0x8), 'e');
    return_after(s, at(function, 0x8));
}

static void what_has_called_on_another_stack_can_switch_to_one(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    call_elsewhere(s, 's');
    switch_to_start(s, MAIN, ONE, 'f');
    assert_spans(s, "a(s(e())s)sf()$");
}

static void others_than_what_has_called_on_another_stack_return_by_the_pointer(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call_elsewhere(s, 'a');
    call(s, at('a', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    switch_to_call(s, ONE - 0x100, MAIN + 8, at('y', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "a(e()y(s()s)s)sf(y(s()s)s)sa?(y?())$");
}

/* The function `s` changes stacks by code that is taken for that of its own frame. */
static void a_return_that_fits_nothing_has_unknown_callers_where_stacks_may_be_missing(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('b', 0x40));
    caller(s, at('a', 0x15));
    no_caller(s);
    stack_pointer(s, MAIN);
    call(s, at('b', 0x50), 's');
    return_to(s, at('f', 0x40));
    call(s, at('f', 0x50), 's');
    return_after(s, at('b', 0x50));
    assert_spans(s, "a?(b?(s()s)s)sf?(s()s)sb?()$");
}

static void a_return_without_a_move_is_that_of_the_leaf(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('a', 0x40));
    call(s, at('a', 0x50), 'y');
    call(s, at('y', 0x10), 's');
    stack_pointer(s, ONE);
    return_loading_stack(s, at('f', 0), TWO);
    call(s, at('f', 0x10), 'y');
    call(s, at('y', 0x10), 's');
    return_after(s, at('y', 0x10));
    assert_spans(s, "a?(y(s()s)s)sf(y(s())$)$");
}

/* Fibers of which each waits in a y that has called setjmp. The one that continues was left before the recording, 16 KB further up
 * than one that it has. */
static void of_small_stacks_side_by_side_a_near_one_is_not_unwound_into_another(void **state)
{
    enum { STACK = 16 << 10 };
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('y', 0x40));
    caller(s, at('f', 0x15));
    call(s, at('y', 0x50), 's');
    stack_pointer(s, ONE);
    return_loading_stack(s, at('a', 0x40), MAIN);
    call(s, at('a', 0x50), 's');
    stack_pointer(s, MAIN);
    jump_loading_stack(s, at('y', 0x60), ONE + STACK - 0x100);
    assert_stack(s, "y");
}

static void
the_first_switch_of_a_recording_is_no_return_though_it_goes_where_the_leaf_returns(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('s', 0));
    caller(s, at('y', 0x15));
    caller(s, at('f', 0x15));
    stack_pointer(s, ONE);
    return_loading_stack(s, at('y', 0x15), MAIN);
    assert_stack(s, "y");
}

/* Between two threads: the stack f continues a frame further down than where this one has left it, in another call of y. */
static void a_stack_that_has_run_elsewhere_has_unknown_callers(void **state)
{
    enum { USUAL = 4 };
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x10), 's');
    switch_to_start(s, MAIN, ONE, 'f');
    call(s, at('f', 0x10), 'y');
    for (int i = 0; i < USUAL; i++) {
        call(s, at('y', 0x10), 's');
        switch_to_call(s, ONE - 0x40, MAIN + 8, at('a', 0x10));
        call(s, at('a', 0x10), 's');
        switch_to_call(s, MAIN, ONE - 0x38, at('y', 0x10));
        assert_stack(s, "yf");
    }
    call(s, at('y', 0x10), 's');
    switch_to_call(s, ONE - 0x40, MAIN + 8, at('a', 0x10));
    call(s, at('a', 0x10), 's');
    switch_to_call(s, MAIN, ONE - 0x58, at('y', 0x10));
    assert_stack(s, "y");
}

/* The code before the first jump is not in the recording: longjmp had loaded the pointer. */
static void the_first_jump_of_a_recording_may_be_a_longjmp(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('l', 0x40));
    caller(s, at('b', 0x15));
    caller(s, at('a', 0x15));
    no_caller(s);
    jump(s, at('a', 0x20));
    assert_stack(s, "a");
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(a_return_without_a_move_is_that_of_the_leaf),
        RULE(of_small_stacks_side_by_side_a_near_one_is_not_unwound_into_another),
        RULE(a_stack_that_has_run_elsewhere_has_unknown_callers),
        RULE(the_first_switch_of_a_recording_is_no_return_though_it_goes_where_the_leaf_returns),
        RULE(the_first_jump_of_a_recording_may_be_a_longjmp),
        RULE(a_return_that_fits_nothing_has_unknown_callers_where_stacks_may_be_missing),
        RULE(reported_callers_are_active_from_the_beginning),
        RULE(callers_beyond_all_measure_are_not_learned),
        RULE(callers_of_a_known_stack_are_ignored),
        RULE(a_reported_caller_is_returned_to_by_its_address),
        RULE(a_reported_handler_returns_to_what_it_interrupted),
        RULE(callers_of_a_stack_that_continues_may_be_named_later),
        RULE(named_callers_that_are_not_those_of_the_known_frames_are_not_believed),
        RULE(stacks_that_are_whole_are_stitched_from_their_roots),
        RULE(of_stacks_suspended_in_one_place_the_pointer_chooses),
        RULE(a_stack_without_a_pointer_is_not_the_nearest),
        RULE(a_stack_further_in_than_the_one_that_was_left_is_another),
        RULE(of_stacks_that_were_left_with_one_pointer_none_is_chosen),
        RULE(a_return_near_the_pointer_stays_in_its_stack),
        RULE(a_stack_in_the_place_of_a_dead_one_is_new),
        RULE(of_stacks_that_share_memory_the_one_with_the_number_continues),
        RULE(a_stack_in_whose_place_another_began_continues),
        RULE(of_two_stacks_that_began_in_one_place_the_newer_continues),
        RULE(once_stacks_are_copied_away_none_is_chosen),
        RULE(a_jump_far_away_lands_in_the_nearest_stack),
        RULE(a_stack_left_without_a_pointer_continues_where_it_would_return),
        RULE(a_jump_that_loads_no_pointer_is_a_tail_call),
        RULE(pointers_reported_on_the_way_of_a_move_do_not_count),
        RULE(what_moves_nothing_does_not_end_a_move),
        RULE(a_pointer_reported_once_is_no_move),
        RULE(two_stacks_alternate),
        RULE(a_move_beyond_the_top_of_a_stack_goes_to_another),
        RULE(the_top_of_a_stack_is_known_when_it_continues),
        RULE(a_stack_does_not_continue_far_below_where_it_was_left),
        RULE(of_stacks_that_may_continue_the_nearest_does),
        RULE(the_nearest_may_have_pushed_more_before_it_was_left),
        RULE(the_running_stack_continues_if_it_is_the_nearest),
        RULE(an_unwind_target_near_the_pointer_in_a_function_never_seen_stays_in_its_stack),
        RULE(a_stack_may_begin_in_the_middle_of_a_function),
        RULE(a_suspended_stack_may_continue_with_a_function_on_top),
        RULE(a_jump_to_where_no_stack_can_lie_begins_one),
        RULE(the_callers_that_were_discovered_lie_further_out),
        RULE(a_return_after_a_switch_is_that_of_the_stack_that_continues),
        RULE(a_function_may_run_on_top_of_a_stack_whose_callers_were_named),
        RULE(an_unwind_target_in_no_known_stack_begins_one),
        RULE(a_new_stack_below_others_is_not_in_their_place),
        RULE(a_return_to_a_function_start_near_the_pointer_is_a_tail_call),
        RULE(a_handler_that_had_switched_away_returns_to_its_restorer),
        RULE(a_new_stack_is_no_restorer_of_a_handler_that_had_switched_away),
        RULE(a_handler_can_return_to_another_stack),
        RULE(a_handler_that_rewrites_the_context_stays_on_its_stack),
        RULE(a_handler_on_a_stack_of_its_own_can_be_left_for_what_it_interrupted),
        RULE(a_new_stack_far_above_is_no_restorer_either),
        RULE(what_has_called_on_another_stack_can_switch_to_one),
        RULE(others_than_what_has_called_on_another_stack_return_by_the_pointer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
