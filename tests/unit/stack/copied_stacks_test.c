/* Stacks that are copied to the same addresses (copied_stacks.h). The function `s` changes stacks: it is called, and goes on in
 * another one's call of it. `b` begins stacks: it calls `s`, which returns, and then the new stack's function.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t main_pointer = 0x7000;

/* In `a`, which has called `b`: a stack begins with `function`. */
static void begin_stack(struct scene *s, char function)
{
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 's');
    return_after(s, at('b', 0x10));
    call(s, at('b', 0x20), function);
}

/* The running stack goes on in another one: the pointer is `from`, and then `to`. */
static void change(struct scene *s, uint64_t from, uint64_t to)
{
    copy_stack(s, at('s', 0x30), from, to);
}

static void back_to_main(struct scene *s)
{
    return_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
}

/* In `a`, which goes on in another stack. */
static void leave_main(struct scene *s, uint64_t to)
{
    call(s, at('a', 0x20), 's');
    change(s, main_pointer, to);
}

static void the_stack_continues_on_which_another_has_begun(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_stack(s, 'f');
    call(s, at('f', 0x10), 's');
    change(s, 0x6000, main_pointer);
    assert_stack(s, "sba");
    back_to_main(s);
    assert_stack(s, "a");
}

static void a_stack_is_known_by_its_pointer(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_stack(s, 'f');
    call(s, at('f', 0x10), 's');
    change(s, 0x6000, main_pointer);
    back_to_main(s);
    begin_stack(s, 'g');
    call(s, at('g', 0x10), 's');
    change(s, 0x5000, main_pointer);
    back_to_main(s);
    leave_main(s, 0x6000);
    assert_stack(s, "sfba");
    return_after(s, at('f', 0x10));
    call(s, at('f', 0x20), 's');
    change(s, 0x5800, main_pointer);
    assert_stack(s, "sa");
    return_after(s, at('a', 0x20));
    leave_main(s, 0x5000);
    assert_stack(s, "sgba");
}

/* Two stacks that were left with the same pointer, in different functions. */
static void leave_two_alike(struct scene *s, uint64_t pointer)
{
    const char functions[] = {'f', 'g'};
    resume(s, at('a', 0));
    for (unsigned i = 0; i < sizeof functions; i++) {
        begin_stack(s, functions[i]);
        call(s, at(functions[i], 0x10), 's');
        change(s, pointer, pointer ? main_pointer : 0);
        back_to_main(s);
    }
}

static void of_two_with_one_pointer_the_returns_decide(void **state)
{
    struct scene *s = *state;
    leave_two_alike(s, 0x6000);
    leave_main(s, 0x6000);
    assert_stack(s, "s"); /* until now */
    frame_id leaf = s->stack.leaf;
    return_after(s, at('g', 0x10));
    call(s, at('g', 0x20), 's');
    change(s, 0x5000, main_pointer);
    frame_id caller = thread_stack_parent(&s->stack, leaf);
    assert_int_equal(thread_stack_frame(&s->stack, caller)->function, id_of('g'));
    caller = thread_stack_parent(&s->stack, caller);
    assert_int_equal(thread_stack_frame(&s->stack, caller)->function, id_of('b'));
    assert_stack(s, "sa");
}

static void a_pointer_that_no_stack_has_leads_to_unknown_callers(void **state)
{
    struct scene *s = *state;
    leave_two_alike(s, 0x6000);
    leave_main(s, 0x4000);
    assert_stack(s, "s");
    return_after(s, at('h', 0x10));
    assert_stack(s, "h");
}

static void a_recording_that_may_lack_stacks_guesses_none(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    leave_two_alike(s, 0x6000);
    leave_main(s, 0x6000);
    return_after(s, at('f', 0x10));
    assert_stack(s, "f");
}

static void without_pointers_the_returns_decide(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_stack(s, 'f');
    call(s, at('f', 0x10), 's');
    change(s, 0, 0);
    assert_stack(s, "sba");
    back_to_main(s);
    leave_main(s, 0);
    return_after(s, at('f', 0x10));
    assert_stack(s, "fba");
}

/* --- Snapshots that say which stack continues. --- */

/* As leave_two_alike, in a snapshot: numbers 1 and 2. */
static void leave_two_numbered(struct scene *s)
{
    const char functions[] = {'f', 'g'};
    s->stack.begins_anywhere = true;
    resume(s, at('a', 0));
    for (uint32_t i = 0; i < sizeof functions; i++) {
        begin_stack(s, functions[i]);
        call(s, at(functions[i], 0x10), 's');
        copied_stacks(s, i + 1, 0);
        change(s, 0, main_pointer);
        return_after(s, at('a', 0x20));
    }
}

static void leave_main_for(struct scene *s, uint32_t left, uint32_t continues)
{
    call(s, at('a', 0x20), 's');
    copied_stacks(s, left, continues);
    change(s, 0, 0x6000);
}

static void a_number_distinguishes_stacks_with_one_pointer(void **state)
{
    struct scene *s = *state;
    leave_two_numbered(s);
    leave_main_for(s, 3, 2);
    assert_stack(s, "sgba");
    return_after(s, at('g', 0x10));
    call(s, at('g', 0x20), 's');
    copied_stacks(s, 2, 1);
    change(s, 0, 0x6000);
    assert_stack(s, "sfba");
}

static void a_stack_that_was_left_before_has_the_callers_that_are_named(void **state)
{
    struct scene *s = *state;
    leave_two_numbered(s);
    leave_main_for(s, 3, 7);
    assert_stack(s, "s");
    placed_caller(s, at('h', 0x10));
    caller(s, at('c', 0x10));
    assert_stack(s, "shc");
}

static void a_number_is_that_of_the_newest_stack_that_has_it(void **state)
{
    struct scene *s = *state;
    leave_two_numbered(s);
    leave_main_for(s, 1, 2);
    return_after(s, at('g', 0x10));
    call(s, at('g', 0x20), 's');
    copied_stacks(s, 2, 1);
    change(s, 0, main_pointer);
    assert_stack(s, "sa");
}

static void a_number_from_before_a_gap_is_not_believed(void **state)
{
    struct scene *s = *state;
    leave_two_numbered(s);
    gap(s, FLOW_GAP_OVERFLOW, FLOW_TIME_LOST);
    resume(s, at('a', 0x10));
    leave_main_for(s, 3, 2);
    assert_stack(s, "s");
}

#define RULE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(the_stack_continues_on_which_another_has_begun),
        RULE(a_stack_is_known_by_its_pointer),
        RULE(of_two_with_one_pointer_the_returns_decide),
        RULE(a_pointer_that_no_stack_has_leads_to_unknown_callers),
        RULE(a_recording_that_may_lack_stacks_guesses_none),
        RULE(without_pointers_the_returns_decide),
        RULE(a_number_distinguishes_stacks_with_one_pointer),
        RULE(a_stack_that_was_left_before_has_the_callers_that_are_named),
        RULE(a_number_is_that_of_the_newest_stack_that_has_it),
        RULE(a_number_from_before_a_gap_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
