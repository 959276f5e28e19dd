/* The rules of Go's goroutines, and of functions that call on another stack.
 *
 * The runtime's functions: t mstart1, s schedule, g gogo, m mcall, k morestack, n newstack, y
 * recovery, e goexit0, z systemstack.
 */
#include "scene.h"

#include "stack/migrated_stacks.h"
#include "stack/rules/goroutines.h"
#include "stack/rules/stack_switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Stack pointers: of the thread's own stack, and of goroutines in mcall. */
enum { A = 0x2000, B = 0x4000, C = 0x6000, G0 = 0x8000 };

static int set_up(void **state)
{
    static struct scene scene;
    scene_init(&scene);
    scene.go_roles[id_of('g')] = GO_ROLE_GOGO;
    scene.go_roles[id_of('m')] = GO_ROLE_WAIT;
    scene.go_roles[id_of('k')] = GO_ROLE_WAIT;
    scene.go_roles[id_of('t')] = GO_ROLE_WAIT;
    scene.go_roles[id_of('n')] = GO_ROLE_NEWSTACK;
    scene.go_roles[id_of('y')] = GO_ROLE_RECOVERY;
    scene.go_roles[id_of('e')] = GO_ROLE_GOEXIT;
    *state = &scene;
    return 0;
}

static int tear_down(void **state)
{
    scene_free(*state);
    return 0;
}

/* The thread's own stack reaches gogo for the first time. */
static void start_thread(struct scene *s)
{
    resume(s, at('t', 0));
    call(s, at('t', 0x10), 's');
    call(s, at('s', 0x10), 'g');
}

/* `function` calls mcall at `offset`, which calls `called` and in the end gogo. */
static void leave_for(struct scene *s, char function, uint64_t offset, char called)
{
    call(s, at(function, offset), 'm');
    call(s, at('m', 0x10), called);
    call(s, at(called, 0x10), 'g');
}

static void leave(struct scene *s, char function, uint64_t offset)
{
    leave_for(s, function, offset, 's');
}

/* As leave_for, with a recorded stack pointer. */
static void leave_reported(struct scene *s, char function, uint64_t offset, uint64_t pointer)
{
    call(s, at(function, offset), 'm');
    stack_pointer(s, pointer);
    stack_pointer(s, G0);
    call(s, at('m', 0x10), 's');
    call(s, at('s', 0x10), 'g');
    stack_pointer(s, G0 - 0x100);
}

static void go_on_after(struct scene *s, uint64_t call_site)
{
    jump(s, call_site + SCENE_CALL_LENGTH);
}

/* How many goroutines the thread has suspended, or how many have continued in it. */
static size_t count_moments(const struct scene *s, enum goroutine_moment_kind kind)
{
    const struct array *moments = goroutines_moments(&s->stack);
    size_t count = 0;
    for (size_t i = 0; i < moments->count; i++)
        count += ((const struct goroutine_moment *)array_at(moments, i))->kind == kind;
    return count;
}

/* When all of the only thread is known. */
static void join(struct scene *s)
{
    struct thread_stack *stacks[] = {&s->stack};
    uint32_t numbers = 0;
    follow_end(&s->stack, &(struct follow_ending){0});
    migrated_stacks_join(stacks, 1, &numbers);
}

static void goroutines_have_stacks_of_their_own(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    leave(s, 'a', 0x10);
    jump(s, at('b', 0));
    leave(s, 'b', 0x10);
    go_on_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'c');
    assert_spans(s, "t(s(g()))sa(m(s(g()))s)sb(m(s(g()))s)sa?(c()$)$");
}

static void gogo_may_continue_in_a_part_of_another_name(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    direct_jump(s, at('h', 0));
    jump(s, at('a', 0));
    assert_spans(s, "t(s(g()th()))sa()$");
}

static void a_new_goroutine_returns_to_its_caller(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    return_after(s, at('a', 0x10));
    return_to(s, at('x', 0x1));
    assert_spans(s, "t(s(g()))sx?(a(b()))$");
}

static void of_goroutines_in_one_place_the_one_with_fitting_callers_continues(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    call(s, at('a', 0x10), 'c');
    leave(s, 'c', 0x10);
    jump(s, at('b', 0));
    call(s, at('b', 0x10), 'c');
    leave(s, 'c', 0x10);
    go_on_after(s, at('c', 0x10));
    return_after(s, at('b', 0x10));
    leave(s, 'b', 0x20);
    assert_spans(s, "t(s(g()))sa(c(m(s(g()))s)s)sb(c(m(s(g()))s)m(s(g()$)$)$)$");
}

static void of_goroutines_in_one_place_none_is_chosen_that_returns_do_not_distinguish(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    call(s, at('a', 0x10), 'c');
    leave(s, 'c', 0x10);
    jump(s, at('b', 0));
    call(s, at('b', 0x10), 'c');
    leave(s, 'c', 0x10);
    go_on_after(s, at('c', 0x10));
    leave(s, 'c', 0x20);
    jump(s, at('d', 0));
    assert_spans(s, "t(s(g()))sa(c(m(s(g()))s)s)sb(c(m(s(g()))s)s)sc?(m(s(g()))s)s"
                    "d()$");
}

static void of_goroutines_in_one_place_the_pointer_decides(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    call(s, at('a', 0x10), 'c');
    leave_reported(s, 'c', 0x10, A);
    jump_loading_stack(s, at('b', 0), B + 0x100);
    call(s, at('b', 0x10), 'c');
    leave_reported(s, 'c', 0x10, B);
    jump_loading_stack(s, at('c', 0x15), A + 8);
    leave_reported(s, 'c', 0x10, A);
    jump_loading_stack(s, at('c', 0x15), A + 8);
    leave_reported(s, 'c', 0x20, A);
    jump_loading_stack(s, at('c', 0x15), B + 8);
    return_after(s, at('b', 0x10));
    join(s);
    assert_spans_of_ended(s, "t(s(g()))sa(c(m(s(g()))s)s)sb(c(m(s(g()))s)s)s"
                             "a?(c?(m(s(g()))s)s)sa?(c?(m(s(g()))s)s)sb?(c?())$");
}

static void a_goroutine_is_distinguished_from_others_again_and_again(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('w', 0));
    call(s, at('w', 0x10), 'c');
    leave(s, 'c', 0x10);
    jump(s, at('y', 0x50)); /* begun before the trace */
    return_to(s, at('x', 0x15));
    call(s, at('x', 0x30), 'y');
    call(s, at('y', 0x10), 'c');
    leave(s, 'c', 0x10);
    go_on_after(s, at('c', 0x10));
    return_after(s, at('y', 0x10));
    call(s, at('y', 0x20), 'c');
    leave(s, 'c', 0x10);
    go_on_after(s, at('c', 0x10));
    return_after(s, at('y', 0x20));
    return_after(s, at('x', 0x30));
    leave(s, 'x', 0x40);
    assert_spans(s,
                 "t(s(g()))sw(c(m(s(g()))s)s)sx?(y?()y(c(m(s(g()))s)c(m(s(g()))s))m(s(g()$)$)$)$");
}

static void a_goroutine_may_be_chosen_again(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    leave(s, 'a', 0x10);
    go_on_after(s, at('a', 0x10));
    assert_spans(s, "t(s(g()))sa(m(s(g())))$");
}

static void a_goroutine_that_has_ended_does_not_continue(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    leave_for(s, 'a', 0x10, 'e');
    jump(s, at('b', 0));
    assert_int_equal(suspended_stacks_list(&s->stack)->count, 1); /* the thread's own */
    assert_spans(s, "t(s(g()))sa(m(e(g()))s)sb()$");
}

static void a_goroutine_that_another_thread_has_suspended_is_discovered(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('b', 0x15));
    return_to(s, at('a', 0x15));
    assert_spans(s, "t(s(g()))sa?(b?())$");
}

static void a_stack_may_grow(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'k');
    stack_pointer(s, A);
    stack_pointer(s, G0);
    call(s, at('k', 0x10), 'n');
    call(s, at('n', 0x10), 'g');
    stack_pointer(s, G0 - 0x100);
    jump_loading_stack(s, at('b', 0x15), C + 8); /* the stack is elsewhere now */
    call(s, at('b', 0x20), 'c');
    return_after(s, at('b', 0x20));
    return_after(s, at('a', 0x10));
    assert_spans(s, "t(s(g()))sa(b(k(n(g()))c()))$");
}

static void a_stack_grows_though_another_goroutine_waits_in_the_same_place(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('b', 0));
    call(s, at('b', 0x10), 'k');
    call(s, at('k', 0x10), 's'); /* preempted */
    call(s, at('s', 0x10), 'g');
    jump(s, at('a', 0));
    call(s, at('a', 0x10), 'b');
    call(s, at('b', 0x10), 'k');
    call(s, at('k', 0x10), 'n');
    call(s, at('n', 0x10), 'g');
    go_on_after(s, at('b', 0x10));
    return_after(s, at('a', 0x10));
    assert_spans(s, "t(s(g()))sb(k(s(g()))s)sa(b(k(n(g()))))$");
}

static void a_panic_is_recovered_where_the_deferred_call_was_noted(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0));
    call(s, at('a', 0x10), 'd');
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'b');
    call(s, at('b', 0x10), 'p');
    leave_for(s, 'p', 0x10, 'y');
    go_on_after(s, at('a', 0x10));
    call(s, at('a', 0x30), 'c');
    assert_spans(s, "t(s(g()))sa(d()b(p(m(y(g()))u)u)uc()$)$");
}

static void begin_deferring(struct scene *s)
{
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    call(s, at('a', 0x10), 'd'); /* notes a deferred call */
    return_after(s, at('a', 0x10));
    call(s, at('a', 0x20), 'b');
}

/* `function` panics; `to` is where the deferred call was noted. */
static void panic_to(struct scene *s, char function, uint64_t to)
{
    call(s, at(function, 0x50), 'm');
    stack_pointer(s, A - 0x80);
    stack_pointer(s, G0);
    call(s, at('m', 0x10), 'y');
    call(s, at('y', 0x10), 'g');
    stack_pointer(s, G0 - 0x100);
    jump_loading_stack(s, to + SCENE_CALL_LENGTH, A + 0x80);
}

static void a_panic_is_recovered_further_out_than_the_goroutine_has_continued(void **state)
{
    struct scene *s = *state;
    begin_deferring(s);
    leave_reported(s, 'b', 0x10, A);
    jump_loading_stack(s, at('b', 0x15), A + 8);
    call(s, at('b', 0x20), 'c');
    panic_to(s, 'c', at('a', 0x10));
    call(s, at('a', 0x30), 'e');
    join(s);
    assert_spans_of_ended(s, "t(s(g()))sa(d()b(m(s(g()))s)s)sa?(b?(c(m(y(g()))u)u)ue()$)$");
}

static void a_panic_is_not_recovered_in_callers_that_have_turned_out_to_be_others(void **state)
{
    struct scene *s = *state;
    begin_deferring(s);
    leave_reported(s, 'b', 0x10, A);
    jump_loading_stack(s, at('b', 0x15), A + 8); /* after it was in another thread */
    return_to(s, at('c', 0x15));
    panic_to(s, 'c', at('a', 0x10));
    join(s);
    assert_spans_of_ended(s, "t(s(g()))sa(d()b(m(s(g()))s)s)sc?(b?()m(y(g()))u)ua?()$");
}

static void what_is_called_on_another_stack_was_called_by_its_caller(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    call(s, at('a', 0x10), 'b');
    leave_reported(s, 'b', 0x10, A - 0x80);
    jump_loading_stack(s, at('b', 0), C + 0x100);
    call(s, at('b', 0x20), 'z');
    stack_pointer(s, C);
    stack_pointer(s, G0);
    call(s, at('z', 0x10), 'c');
    return_after(s, at('z', 0x10));
    stack_pointer(s, G0);
    return_loading_stack(s, at('b', 0x25), C);
    call(s, at('b', 0x30), 'd');
    assert_spans(s, "t(s(g()))sa(b(m(s(g()))s)s)sb(z(c())d()$)$");
}

/* One waits in mcall; another one, which was preempted right after mcall had returned to the same place, continues. */
static void a_goroutine_returns_to_where_another_one_waits(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    leave_reported(s, 'a', 0x10, A);
    jump_loading_stack(s, at('p', 0x40), C);
    return_to(s, at('a', 0x15));
    call(s, at('a', 0x30), 'b');
    assert_spans(s, "t(s(g()))sa(m(s(g()))s)sa?(p?()b()$)$");
}

/* Go's systemstack loads the stack pointer from a register, as functions do with their own frame: that is not recorded. */
static void a_call_on_another_stack_returns_that_was_not_recorded(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    call(s, at('a', 0x10), 'b');
    leave_reported(s, 'b', 0x10, A - 0x80);
    jump_loading_stack(s, at('f', 0), C + 0x100);
    call(s, at('f', 0x10), 'b');
    call(s, at('b', 0x20), 'z');
    call(s, at('z', 0x10), 'c');
    return_after(s, at('z', 0x10));
    stack_pointer(s, G0);
    return_loading_stack(s, at('b', 0x25), C);
    call(s, at('b', 0x30), 'd');
    assert_spans(s, "t(s(g()))sa(b(m(s(g()))s)s)sf(b(z(c())d()$)$)$");
}

static void functions_of_the_runtime_are_recognized_by_name(void **state)
{
    (void)state;
    assert_int_equal(go_role_of("runtime.gogo"), GO_ROLE_GOGO);
    assert_int_equal(go_role_of("runtime.gogo.abi0"), GO_ROLE_GOGO);
    assert_int_equal(go_role_of("runtime.morestack.abi0"), GO_ROLE_WAIT);
    assert_int_equal(go_role_of("runtime.morestack_noctxt.abi0"), GO_ROLE_NONE);
    assert_int_equal(go_role_of("gogo"), GO_ROLE_NONE);
    assert_int_equal(go_role_of(""), GO_ROLE_NONE);
}

static void a_scheduler_begun_before_the_trace_chooses_a_goroutine(void **state)
{
    struct scene *s = *state;
    resume(s, at('s', 0x40));
    call(s, at('s', 0x50), 'g');
    jump(s, at('a', 0));
    assert_spans(s, "s?(g()s)sa()$");
}

static void a_goroutine_seen_from_its_wait_on_is_discovered(void **state)
{
    struct scene *s = *state;
    leave(s, 'a', 0x10);
    go_on_after(s, at('a', 0x10));
    assert_spans(s, "a?(m(s(g())))$");
}

static void a_pointer_of_a_goroutine_that_waits_elsewhere_decides_nothing(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump_loading_stack(s, at('a', 0), A + 0x100);
    leave_reported(s, 'a', 0x10, A);
    jump_loading_stack(s, at('d', 0x15), A + 8);
    assert_int_equal(count_moments(s, GOROUTINE_ARRIVES), 1);
    assert_spans(s, "t(s(g()))sa(m(s(g()))s)sd?()$");
}

static void only_goroutines_with_recorded_pointers_are_followed_to_other_threads(void **state)
{
    struct scene *s = *state;
    start_thread(s);
    jump(s, at('a', 0x15));
    assert_int_equal(count_moments(s, GOROUTINE_ARRIVES), 0);
    leave(s, 'a', 0x10);
    assert_int_equal(count_moments(s, GOROUTINE_LEAVES), 0);
    stack_pointer(s, G0 - 0x100);
    jump_loading_stack(s, at('b', 0), B);
    assert_int_equal(count_moments(s, GOROUTINE_ARRIVES), 0);
    stack_pointer(s, B);
    stack_pointer(s, G0);
    call(s, at('b', 0x10), 'z'); /* on another stack, but not to wait */
    assert_int_equal(count_moments(s, GOROUTINE_LEAVES), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(goroutines_have_stacks_of_their_own),
        TEST(gogo_may_continue_in_a_part_of_another_name),
        TEST(a_new_goroutine_returns_to_its_caller),
        TEST(of_goroutines_in_one_place_the_one_with_fitting_callers_continues),
        TEST(of_goroutines_in_one_place_none_is_chosen_that_returns_do_not_distinguish),
        TEST(of_goroutines_in_one_place_the_pointer_decides),
        TEST(a_goroutine_is_distinguished_from_others_again_and_again),
        TEST(a_goroutine_may_be_chosen_again),
        TEST(a_goroutine_that_has_ended_does_not_continue),
        TEST(a_goroutine_that_another_thread_has_suspended_is_discovered),
        TEST(a_stack_may_grow),
        TEST(a_stack_grows_though_another_goroutine_waits_in_the_same_place),
        TEST(a_panic_is_recovered_where_the_deferred_call_was_noted),
        TEST(a_panic_is_recovered_further_out_than_the_goroutine_has_continued),
        TEST(a_panic_is_not_recovered_in_callers_that_have_turned_out_to_be_others),
        TEST(what_is_called_on_another_stack_was_called_by_its_caller),
        TEST(a_goroutine_returns_to_where_another_one_waits),
        TEST(a_call_on_another_stack_returns_that_was_not_recorded),
        TEST(functions_of_the_runtime_are_recognized_by_name),
        TEST(a_scheduler_begun_before_the_trace_chooses_a_goroutine),
        TEST(a_goroutine_seen_from_its_wait_on_is_discovered),
        TEST(a_pointer_of_a_goroutine_that_waits_elsewhere_decides_nothing),
        TEST(only_goroutines_with_recorded_pointers_are_followed_to_other_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
