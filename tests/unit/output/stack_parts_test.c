/* What ran on which stack, in scenes of threads and goroutines. */
#include "output/stack_parts.h"

#include "stack/thread_stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct span_function root = {.name = "runtime.goexit"}, work = {.name = "main.work"},
                                  own = {.name = "main"}, leaf = {.name = "leaf"};

enum { SHARED = SHARED_STACKS + 7, LOCAL = 3 };

struct scene {
    struct stack_parts parts;
    struct stack_part ended[16];
    size_t count;
};

static struct scene begin(void)
{
    return (struct scene){.parts = stack_parts_new(3)};
}

static void take(struct scene *scene, enum span_event_kind kind, uint32_t track, uint64_t time,
                 const struct span_function *function, uint32_t stack)
{
    const struct span_event event = {
        .kind = kind, .track = track, .function = function, .stack = stack};
    if (stack_parts_take(&scene->parts, &event, time, &scene->ended[scene->count]))
        scene->count++;
}

static void enter(struct scene *scene, uint32_t track, uint64_t time,
                  const struct span_function *function, uint32_t stack)
{
    take(scene, SPAN_ENTER, track, time, function, stack);
}

static void leave(struct scene *scene, uint32_t track, uint64_t time, uint32_t stack)
{
    take(scene, SPAN_LEAVE, track, time, NULL, stack);
}

static void finish(struct scene *scene)
{
    stack_parts_finish(&scene->parts, scene->ended, scene->count);
}

static void assert_part(const struct scene *scene, size_t number, uint64_t from, uint64_t to,
                        uint32_t stack, uint32_t track)
{
    assert_true(number < scene->count);
    const struct stack_part *part = &scene->ended[number];
    assert_int_equal(part->from, from);
    assert_int_equal(part->to, to);
    assert_int_equal(part->stack, stack);
    assert_int_equal(part->track, track);
}

static const struct known_stack *stack_at(const struct scene *scene, size_t place)
{
    assert_true(place < scene->parts.stacks.count);
    return array_at(&scene->parts.stacks, place);
}

/* A thread's own calls have no number, so no part. */
static void without_switches_there_are_no_parts(void **state)
{
    struct scene scene = begin();
    enter(&scene, 0, 10, &own, 0);
    enter(&scene, 0, 11, &leaf, 0);
    leave(&scene, 0, 12, 0);
    leave(&scene, 0, 20, 0);
    assert_int_equal(scene.count, 0);
    assert_int_equal(scene.parts.stacks.count, 0);
    stack_parts_free(&scene.parts);
}

static void a_goroutine_has_the_name_of_what_it_runs(void **state)
{
    struct scene scene = begin();
    enter(&scene, 0, 10, &root, 0);
    enter(&scene, 0, 10, &work, 0);
    enter(&scene, 0, 12, &leaf, 0);
    leave(&scene, 0, 20, LOCAL); /* suspended: its number becomes known */
    leave(&scene, 0, 20, 0);
    leave(&scene, 0, 20, 0);
    enter(&scene, 0, 20, &own, 0);
    leave(&scene, 0, 30, LOCAL + 1);
    enter(&scene, 0, 30, &root, LOCAL); /* resumed */
    enter(&scene, 0, 30, &work, 0);
    leave(&scene, 0, 45, 0);
    leave(&scene, 0, 50, 0); /* and returned */
    finish(&scene);
    assert_int_equal(scene.count, 3);
    assert_part(&scene, 0, 10, 20, 0, 0);
    assert_part(&scene, 1, 30, 50, 0, 0);
    assert_part(&scene, 2, 20, 30, 1, 0);
    assert_string_equal(stack_at(&scene, 0)->name, "main.work");
    assert_string_equal(stack_at(&scene, 1)->name, "main");
    assert_int_equal(stack_at(&scene, 0)->parts, 2);
    assert_int_equal(stack_at(&scene, 0)->running, 30);
    assert_int_equal(stack_at(&scene, 0)->first, 10);
    assert_int_equal(stack_at(&scene, 0)->last, 50);
    assert_int_equal(stack_at(&scene, 0)->depth, 3);
    stack_parts_free(&scene.parts);
}

/* The thread that suspended it shows its calls until it runs something else itself. */
static void a_stack_runs_in_one_thread_at_a_time(void **state)
{
    struct scene scene = begin();
    enter(&scene, 0, 10, &work, SHARED);
    enter(&scene, 1, 30, &work, SHARED);
    leave(&scene, 1, 40, SHARED);
    enter(&scene, 2, 50, &work, SHARED);
    leave(&scene, 0, 60, SHARED);
    leave(&scene, 2, 70, SHARED);
    finish(&scene);
    assert_int_equal(scene.count, 3);
    assert_part(&scene, 0, 10, 30, 0, 0);
    assert_part(&scene, 1, 30, 40, 0, 1);
    assert_part(&scene, 2, 50, 70, 0, 2);
    assert_int_equal(stack_at(&scene, 0)->running, 50);
    stack_parts_free(&scene.parts);

    /* Where its number was not known before it was resumed elsewhere. */
    scene = begin();
    enter(&scene, 0, 10, &work, 0);
    enter(&scene, 1, 30, &work, SHARED);
    leave(&scene, 0, 60, SHARED);
    leave(&scene, 1, 70, SHARED);
    finish(&scene);
    assert_part(&scene, 0, 10, 30, 0, 0);
    assert_part(&scene, 1, 30, 70, 0, 1);
    stack_parts_free(&scene.parts);
}

/* Numbers below SHARED_STACKS are a track's own. */
static void equal_numbers_of_two_tracks_are_two_stacks(void **state)
{
    struct scene scene = begin();
    enter(&scene, 0, 10, &work, LOCAL);
    enter(&scene, 1, 20, &own, LOCAL);
    leave(&scene, 0, 30, LOCAL);
    leave(&scene, 1, 40, LOCAL);
    finish(&scene);
    assert_part(&scene, 0, 10, 30, 0, 0);
    assert_part(&scene, 1, 20, 40, 1, 1);
    stack_parts_free(&scene.parts);
}

static void the_busiest_is_first(void **state)
{
    struct scene scene = begin();
    enter(&scene, 0, 10, &work, LOCAL);
    leave(&scene, 0, 15, LOCAL);
    enter(&scene, 0, 15, &own, LOCAL + 1);
    leave(&scene, 0, 90, LOCAL + 1);
    finish(&scene);
    assert_string_equal(stack_at(&scene, 0)->name, "main");
    assert_part(&scene, 0, 15, 90, 0, 0);
    assert_part(&scene, 1, 10, 15, 1, 0);
    stack_parts_free(&scene.parts);
}

/* As damaged traces have them. */
static void a_leave_without_an_enter_is_ignored(void **state)
{
    struct scene scene = begin();
    leave(&scene, 2, 10, SHARED);
    assert_int_equal(scene.count, 0);
    stack_parts_free(&scene.parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_switches_there_are_no_parts),
        cmocka_unit_test(a_goroutine_has_the_name_of_what_it_runs),
        cmocka_unit_test(a_stack_runs_in_one_thread_at_a_time),
        cmocka_unit_test(equal_numbers_of_two_tracks_are_two_stacks),
        cmocka_unit_test(the_busiest_is_first),
        cmocka_unit_test(a_leave_without_an_enter_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
