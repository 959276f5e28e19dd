/* Fibers that hand control over to those who called them (handed_over.h), as OCaml 5's do, without recorded stack pointers, and with
 * them where a fiber was called before the recording began. `r` calls a function on another stack, `p` performs an effect, and `u`
 * resumes a fiber, in which `k` returns for `p`: these three load the stack pointer.
 */
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
    scene.switches = "rpu";
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *s = *state;
    if (s->stack.leaf != FRAME_NONE) /* else assert_spans has ended it */
        follow_end(&s->stack, &(struct follow_ending){.time = {s->time}});
    assert_well_formed(&s->stack);
    scene_free(s);
    return 0;
}

/* At offset 0x10 of `caller`. */
static void begin_fiber(struct scene *s, char caller, char function)
{
    call(s, at(caller, 0x10), 'r');
    call(s, at('r', 0x10), function);
}

/* At offset 0x10 of `function`: it continues after that. */
static void perform(struct scene *s, char function, char handler)
{
    call(s, at(function, 0x10), 'p');
    direct_jump_in_stack(s, at(handler, 0));
}

/* At offset 0x20 of `resumer`. */
static void resume_fiber(struct scene *s, char resumer, char function)
{
    call(s, at(resumer, 0x20), 'u');
    jump_in_stack(s, at('k', 0));
    return_after(s, at(function, 0x10));
}

/* The fiber's first function returns, and `end` is called for its result. */
static void end_fiber(struct scene *s, char end)
{
    return_after(s, at('r', 0x10));
    jump(s, at(end, 0));
}

static void an_effects_handler_is_not_called_by_the_fiber(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_fiber(s, 'a', 'f');
    assert_stack(s, "fra");
    perform(s, 'f', 'h');
    assert_stack(s, "h");
    return_after(s, at('a', 0x10));
    assert_stack(s, "a");
}

static void a_fiber_that_is_resumed_elsewhere_is_not_called_as_before(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_fiber(s, 'a', 'f');
    perform(s, 'f', 'h');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x30), 'b');
    resume_fiber(s, 'b', 'f');
    assert_stack(s, "f");
    end_fiber(s, 'e');
    return_after(s, at('b', 0x20));
    assert_stack(s, "ba");
}

static void a_fiber_that_ends_was_called_by_who_gets_its_result(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_fiber(s, 'a', 'f');
    perform(s, 'f', 'h');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x30), 'b');
    resume_fiber(s, 'b', 'f');
    end_fiber(s, 'e');
    assert_stack(s, "e");
    return_after(s, at('b', 0x20));
    assert_spans(s, "a(r(f(p()s)s)s)sa?(h()b(u()s)s)sa?(b?(r?(f?(k()))te())$)$");
}

static void who_resumes_a_fiber_keeps_its_callers(void **state)
{
    struct scene *s = *state;
    resume(s, at('z', 0));
    begin_fiber(s, 'z', 'a');
    begin_fiber(s, 'a', 'f');
    perform(s, 'f', 'h');
    return_after(s, at('a', 0x10));
    assert_stack(s, "arz");
    resume_fiber(s, 'a', 'f');
    perform(s, 'f', 'h');
    assert_stack(s, "h");
    return_after(s, at('a', 0x20));
    assert_stack(s, "arz");
}

static void a_handler_that_resumes_the_fiber_ends_where_that_was_called(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_fiber(s, 'a', 'f');
    perform(s, 'f', 'h');
    resume_fiber(s, 'h', 'f');
    assert_stack(s, "f");
    end_fiber(s, 'e');
    return_after(s, at('h', 0x20));
    assert_stack(s, "h");
    return_after(s, at('a', 0x10));
    assert_stack(s, "a");
}

static void a_handler_that_ends_by_resuming_the_fiber_leaves_its_callers(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_fiber(s, 'a', 'f');
    perform(s, 'f', 'h');
    jump(s, at('u', 0));
    jump_in_stack(s, at('k', 0));
    return_after(s, at('f', 0x10));
    assert_stack(s, "fra");
    perform(s, 'f', 'h');
    return_after(s, at('a', 0x10));
    assert_stack(s, "a");
}

/* `g` is the fiber of a handler inside of `f`, and that is the fiber of one in `a`, which resumes both later. */
static void an_effect_that_is_passed_on_takes_the_fibers_in_between_away(void **state)
{
    struct scene *s = *state;
    resume(s, at('a', 0));
    begin_fiber(s, 'a', 'f');
    begin_fiber(s, 'f', 'g');
    perform(s, 'g', 'h');
    jump(s, at('p', 0));
    direct_jump_in_stack(s, at('o', 0));
    return_after(s, at('a', 0x10));
    assert_stack(s, "a");
    call(s, at('a', 0x30), 'b');
    resume_fiber(s, 'b', 'g');
    assert_stack(s, "g");
    end_fiber(s, 'e');
    return_after(s, at('f', 0x10));
    assert_stack(s, "f");
    end_fiber(s, 'e');
    return_after(s, at('b', 0x20));
    assert_stack(s, "ba");
}

static void with_pointers_a_fiber_called_before_the_recording_is_left_too(void **state)
{
    enum { MAIN = 0x70000, PERFORMS = 0x3ff00 };
    struct scene *s = *state;
    s->stack.begins_anywhere = true;
    resume(s, at('f', 0x8));
    caller(s, at('r', 0x15));
    call(s, at('f', 0x10), 'p');
    stack_pointer(s, PERFORMS);
    stack_pointer(s, MAIN);
    direct_jump_in_stack(s, at('h', 0));
    assert_stack(s, "h");
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'u');
    stack_pointer(s, MAIN - 0x40);
    jump_loading_stack(s, at('k', 0), PERFORMS);
    assert_stack(s, "kf"); /* and not r: who has called it goes on elsewhere */
}

#define FIBERS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIBERS(an_effects_handler_is_not_called_by_the_fiber),
        FIBERS(a_fiber_that_is_resumed_elsewhere_is_not_called_as_before),
        FIBERS(a_fiber_that_ends_was_called_by_who_gets_its_result),
        FIBERS(who_resumes_a_fiber_keeps_its_callers),
        FIBERS(a_handler_that_resumes_the_fiber_ends_where_that_was_called),
        FIBERS(a_handler_that_ends_by_resuming_the_fiber_leaves_its_callers),
        FIBERS(an_effect_that_is_passed_on_takes_the_fibers_in_between_away),
        FIBERS(with_pointers_a_fiber_called_before_the_recording_is_left_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
