/* What a recording may tell of stacks: callers behind a resume (tracing_pause.h), the stack pointer
 * where it is loaded (told_switch.h). */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Stack pointers: of the thread's own stack, and of two others. */
enum { MAIN = 0x70000, ONE = 0x20000, TWO = 0x30000 };

static int set_up(void **state)
{
    static struct scene scene;
    scene_init(&scene);
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    scene_free(*state);
    return 0;
}

/* --- Callers --- */

static void callers_that_are_told_are_open_from_the_beginning(void **state)
{
    struct scene *s = *state;
    resume(s, at('c', 0x40));
    caller(s, at('b', 0x15));
    caller(s, at('a', 0x15));
    no_caller(s);
    return_to(s, at('b', 0x15));
    assert_spans(s, "a?(b?(c?())$)$");
}

static void what_is_told_of_a_known_stack_is_ignored(void **state)
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

static void a_told_caller_is_returned_to_by_its_address(void **state)
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

static void a_told_handler_returns_to_what_it_interrupted(void **state)
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

/* Which of the a's went on would not be known without its callers. */
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

/* Fiber f, on ONE, begins; then the thread's own stack goes on, then f. All switch in `s`, which is
 * called from one place in each, so addresses do not tell them apart. */
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

static void of_stacks_parked_in_one_place_the_pointer_chooses(void **state)
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
    assert_int_equal(s->stack.parked.count, 1);
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

/* The same jump may be a longjmp in a recording that tells nothing of stacks. */
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

#define RULE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RULE(callers_that_are_told_are_open_from_the_beginning),
        RULE(what_is_told_of_a_known_stack_is_ignored),
        RULE(a_told_caller_is_returned_to_by_its_address),
        RULE(a_told_handler_returns_to_what_it_interrupted),
        RULE(stacks_that_are_whole_are_stitched_from_their_roots),
        RULE(of_stacks_parked_in_one_place_the_pointer_chooses),
        RULE(a_return_near_the_pointer_stays_in_its_stack),
        RULE(a_stack_in_the_place_of_a_dead_one_is_new),
        RULE(a_jump_far_away_lands_in_the_nearest_stack),
        RULE(a_jump_that_loads_no_pointer_is_a_tail_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
