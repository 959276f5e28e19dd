/* Continuations made of copies of the stack (captured_stacks.h). The function `c` captures: it calls `s`, which is setjmp, and
 * returns. `l` copies a stack back and calls longjmp, which is part of it.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* In `function`, whose stack is captured. */
static void capture(struct scene *s, char function)
{
    call(s, at(function, 0x10), 'c');
    call(s, at('c', 0x10), 's');
    return_after(s, at('c', 0x10));
    return_after(s, at(function, 0x10));
}

/* In `function`: a captured stack continues. */
static void go_on_elsewhere(struct scene *s, char function)
{
    call(s, at(function, 0x20), 'l');
    jump_in_stack(s, at('c', 0x15));
}

static void capture_in(struct scene *s, uint64_t call_site, char function)
{
    call(s, call_site, function);
    capture(s, function);
    return_after(s, call_site);
}

static void a_captured_stack_continues_after_its_end(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    call(s, at('a', 0x40), 'f');
    capture(s, 'f');
    return_after(s, at('a', 0x40));
    call(s, at('a', 0x50), 'g');
    for (unsigned i = 0; i < 2; i++) { /* any number of times */
        go_on_elsewhere(s, i == 0 ? 'g' : 'f');
        assert_stack(s, "cfa");
        return_after(s, at('f', 0x10));
        assert_stack(s, "fa");
    }
    return_after(s, at('a', 0x40));
    assert_stack(s, "a");
}

static void of_several_the_returns_decide(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    capture_in(s, at('a', 0x40), 'f');
    capture_in(s, at('a', 0x50), 'g');
    go_on_elsewhere(s, 'a');
    assert_stack(s, "c"); /* until now */
    return_after(s, at('g', 0x10));
    frame_id leaf = s->stack.leaf;
    go_on_elsewhere(s, 'g');
    frame_id caller = thread_stack_parent(&s->stack, leaf);
    assert_int_equal(thread_stack_frame(&s->stack, caller)->function, id_of('a'));
}

static void what_the_returns_leave_open_is_unknown(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    capture_in(s, at('a', 0x40), 'f');
    capture_in(s, at('a', 0x50), 'g');
    go_on_elsewhere(s, 'a');
    frame_id leaf = s->stack.leaf;
    gap(s, FLOW_GAP_OVERFLOW, 0);
    frame_id caller = thread_stack_parent(&s->stack, leaf);
    assert_int_equal(thread_stack_frame(&s->stack, caller)->kind, FRAME_PLACEHOLDER);
}

static void a_stack_that_is_captured_twice_is_one(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    capture_in(s, at('a', 0x40), 'f');
    capture_in(s, at('a', 0x40), 'f');
    go_on_elsewhere(s, 'a');
    assert_stack(s, "cfa");
}

static void a_recording_that_may_lack_stacks_guesses_none(void **state)
{
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('a', 0x10));
    capture_in(s, at('a', 0x40), 'f');
    go_on_elsewhere(s, 'a');
    return_after(s, at('h', 0x10));
    assert_stack(s, "h");
}

static void the_stack_pointer_may_be_recorded(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    capture_in(s, at('a', 0x40), 'f');
    call(s, at('a', 0x20), 'l');
    stack_pointer(s, 0x5000);
    jump_loading_stack(s, at('c', 0x15), 0x7000);
    assert_stack(s, "cfa");
}

static void a_function_that_is_active_is_unwound(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    capture_in(s, at('a', 0x40), 'f');
    call(s, at('a', 0x60), 'c');
    call(s, at('c', 0x10), 's');
    return_after(s, at('c', 0x10));
    call(s, at('c', 0x20), 'l');
    jump_in_stack(s, at('c', 0x15));
    assert_stack(s, "ca");
    return_after(s, at('a', 0x60));
    assert_stack(s, "a");
}

#define SCENE(test) cmocka_unit_test_setup_teardown(test, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(a_captured_stack_continues_after_its_end),
        SCENE(of_several_the_returns_decide),
        SCENE(what_the_returns_leave_open_is_unknown),
        SCENE(a_stack_that_is_captured_twice_is_one),
        SCENE(a_recording_that_may_lack_stacks_guesses_none),
        SCENE(the_stack_pointer_may_be_recorded),
        SCENE(a_function_that_is_active_is_unwound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
