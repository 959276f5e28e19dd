/* Fibers on top of who called or resumed them (called_fibers.h), as OCaml 5 has them. `r` calls a function on another stack, `p`
 * performs an effect, and `u` resumes a fiber, in which a function returns for `p`.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Stack pointers: of `a` when it calls a fiber, of that fiber when it begins and when it performs; of a fiber that it calls. */
enum {
    MAIN = 0x70000,
    FIBER = 0x40000,
    PERFORMS = 0x3ff00,
    INNER = 0x20000,
    INNER_PERFORMS = 0x1ff00
};

static int set_up(void **state)
{
    static struct scene scene;
    scene_init(&scene);
    *state = &scene;
    resume(&scene, at('a', 0));
    return 0;
}

static int tear_down(void **state)
{
    scene_free(*state);
    return 0;
}

/* The function `caller` has a fiber run `function`. */
static void begin_fiber(struct scene *s, char caller, uint64_t from, uint64_t to, char function)
{
    call(s, at(caller, 0x10), 'r');
    stack_pointer(s, from);
    stack_pointer(s, to);
    call(s, at('r', 0x10), function);
}

/* `handler` runs where the fiber was called. */
static void hand_over(struct scene *s, uint64_t from, uint64_t to, char handler)
{
    stack_pointer(s, from);
    stack_pointer(s, to);
    direct_jump(s, at(handler, 0));
}

static void perform(struct scene *s, char function, uint64_t from, uint64_t to, char handler)
{
    call(s, at(function, 0x10), 'p');
    hand_over(s, from, to, handler);
}

static void resume_fiber(struct scene *s, char resumer, uint64_t from, uint64_t to, char function)
{
    call(s, at(resumer, 0x10), 'u');
    stack_pointer(s, from);
    jump_loading_stack(s, at(function, 0), to);
}

static void an_effect_is_handled_where_the_fiber_was_called(void **state)
{
    struct scene *s = *state;
    begin_fiber(s, 'a', MAIN, FIBER, 'f');
    assert_stack(s, "fra");
    perform(s, 'f', PERFORMS, MAIN, 'h');
    assert_stack(s, "ha");
    return_after(s, at('a', 0x10));
    assert_stack(s, "a");
}

static void a_fiber_continues_on_top_of_its_handler(void **state)
{
    struct scene *s = *state;
    begin_fiber(s, 'a', MAIN, FIBER, 'f');
    perform(s, 'f', PERFORMS, MAIN, 'h');
    resume_fiber(s, 'h', MAIN - 0x10, PERFORMS, 'k');
    assert_stack(s, "kfrha");
    return_after(s, at('f', 0x10));
    assert_stack(s, "frha");
}

static void a_fiber_returns_to_the_one_that_has_resumed_it(void **state)
{
    struct scene *s = *state;
    begin_fiber(s, 'a', MAIN, FIBER, 'f');
    perform(s, 'f', PERFORMS, MAIN, 'h');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'b');
    resume_fiber(s, 'b', MAIN - 0x40, PERFORMS, 'k');
    assert_stack(s, "kfrba");
    return_after(s, at('f', 0x10));
    return_after(s, at('r', 0x10));
    assert_stack(s, "rba");
    stack_pointer(s, 0x90000); /* where it has freed the fiber's stack */
    jump_loading_stack(s, at('c', 0), MAIN - 0x40);
    assert_stack(s, "cba");
    return_after(s, at('b', 0x10));
    assert_stack(s, "ba");
}

static void it_may_perform_once_more(void **state)
{
    struct scene *s = *state;
    begin_fiber(s, 'a', MAIN, FIBER, 'f');
    perform(s, 'f', PERFORMS, MAIN, 'h');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'b');
    resume_fiber(s, 'b', MAIN - 0x40, PERFORMS, 'k');
    return_after(s, at('f', 0x10));
    call(s, at('f', 0x20), 'g');
    perform(s, 'g', PERFORMS - 0x10, MAIN - 0x40, 'h');
    assert_stack(s, "hba");
    resume_fiber(s, 'h', MAIN - 0x50, PERFORMS - 0x10, 'k');
    assert_stack(s, "kgfrhba");
}

static void a_handler_further_out_resumes_the_fibers_in_between_too(void **state)
{
    struct scene *s = *state;
    begin_fiber(s, 'a', MAIN, FIBER, 'f');
    begin_fiber(s, 'f', PERFORMS, INNER, 'g');
    perform(s, 'g', INNER_PERFORMS, PERFORMS, 'h');
    assert_stack(s, "hfra");
    direct_jump(s, at('e', 0));
    hand_over(s, PERFORMS, MAIN, 'o'); /* the inner handler passes it on */
    assert_stack(s, "oa");
    resume_fiber(s, 'o', MAIN - 0x10, INNER_PERFORMS, 'k');
    assert_stack(s, "kgrfroa");
}

static void a_pointer_with_which_none_was_left_leads_to_an_unknown_stack(void **state)
{
    struct scene *s = *state;
    begin_fiber(s, 'a', MAIN, FIBER, 'f');
    perform(s, 'f', PERFORMS, MAIN, 'h');
    resume_fiber(s, 'h', MAIN - 0x10, PERFORMS - 0x4000, 'k');
    assert_stack(s, "k");
}

#define FIBERS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIBERS(an_effect_is_handled_where_the_fiber_was_called),
        FIBERS(a_fiber_continues_on_top_of_its_handler),
        FIBERS(a_fiber_returns_to_the_one_that_has_resumed_it),
        FIBERS(it_may_perform_once_more),
        FIBERS(a_handler_further_out_resumes_the_fibers_in_between_too),
        FIBERS(a_pointer_with_which_none_was_left_leads_to_an_unknown_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
