/* Span events are the same whether they are read one by one, in batches, or up to a time. */
#include "random_program.h"
#include "scene.h"
#include "stack/recorded_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { PROGRAMS = 40, EVENTS = 3000, ROOM_MAX = 70 };

static void follow_damaged(struct thread_stack *stack, const struct random_program *program,
                           uint64_t *random, unsigned percent_dropped)
{
    struct code_view code = random_program_code();
    thread_stack_init(stack, &code);
    for (size_t i = 0; i < program->events.count; i++)
        if (random_number(random) % 100 >= percent_dropped)
            follow_events(stack, array_at(&program->events, i), 1);
    follow_end(stack, &(struct follow_ending){0});
}

static struct array read_one_by_one(const struct thread_stack *stack)
{
    struct array all = array_of(sizeof(struct replay_event));
    struct replay_event event;
    struct replay replay;
    replay_init(&replay, stack);
    while (replay_next(&replay, &event))
        *(struct replay_event *)array_add(&all) = event;
    replay_free(&replay);
    return all;
}

static void assert_same(const struct replay_event *got, const struct replay_event *expected)
{
    assert_int_equal(got->kind, expected->kind);
    assert_int_equal(got->time.value, expected->time.value);
    assert_int_equal(got->place.value, expected->place.value);
    assert_int_equal(got->function, expected->function);
    assert_int_equal(got->address, expected->address);
    assert_int_equal(got->flags, expected->flags);
    assert_int_equal(got->end, expected->end);
    assert_int_equal(got->stack, expected->stack);
    assert_ptr_equal(got->gap, expected->gap);
    assert_ptr_equal(got->death, expected->death);
}

/* Reads what is shown before `before`, with little space each time, and compares it with `all` from
 * *index on. */
static void read_before(struct replay *replay, const struct array *all, size_t *index,
                        uint64_t *random, struct nanoseconds before)
{
    struct replay_event events[ROOM_MAX];
    size_t count;
    while ((count = replay_read(replay, events, 1 + random_number(random) % ROOM_MAX, before)) >
           0) {
        for (size_t i = 0; i < count; i++, ++*index) {
            assert_true(*index < all->count);
            assert_same(&events[i], array_at(all, *index));
            assert_true(events[i].place.value < before.value);
        }
    }
}

static void assert_same_in_batches(const struct thread_stack *stack, uint64_t *random)
{
    struct array all = read_one_by_one(stack);
    struct nanoseconds place;
    struct replay replay;
    size_t index = 0;
    replay_init(&replay, stack);
    while (replay_place(&replay, &place)) {
        uint64_t length = random_number(random) % 2 ? 1 : random_number(random) % 1000;
        read_before(&replay, &all, &index, random, (struct nanoseconds){place.value + length});
    }
    assert_int_equal(index, all.count);
    replay_free(&replay);
    array_free(&all);
}

static void batches_hold_the_same_as_single_events(void **state)
{
    static const unsigned percents[] = {0, 1, 20};
    uint64_t random = 11;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        struct random_program program;
        random_program_make(&program, seed, EVENTS);
        for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
            struct thread_stack stack;
            follow_damaged(&stack, &program, &random, percents[i]);
            assert_same_in_batches(&stack, &random);
            thread_stack_free(&stack);
        }
        random_program_free(&program);
    }
}

static void nothing_is_shown_before_the_place_of_what_comes_next(void **state)
{
    struct scene scene;
    scene_init(&scene);
    call(&scene, at('a', 0), 'b'); /* at 10 ticks, which are nanoseconds here */
    call(&scene, at('b', 0), 'c');
    follow_end(&scene.stack, &(struct follow_ending){0});
    struct replay replay;
    struct replay_event event;
    struct nanoseconds place = {0};
    replay_init(&replay, &scene.stack);
    assert_true(replay_place(&replay, &place));
    uint64_t first = place.value;
    assert_int_equal(replay_read(&replay, &event, 1, (struct nanoseconds){first}), 0);
    assert_int_equal(replay_read(&replay, &event, 1, (struct nanoseconds){first + 1}), 1);
    assert_true(replay_place(&replay, &place));
    assert_int_equal(place.value, first + SCENE_STEP);
    while (replay_next(&replay, &event))
        ;
    assert_false(replay_place(&replay, &place));
    replay_free(&replay);
    scene_free(&scene);
}

/* What is recorded of calls has numbers beyond those of the few frames. */
static void recorded_values_have_no_frame(void **state)
{
    enum { CALLS = 30000 };
    struct scene scene;
    scene_init(&scene);
    for (uint64_t i = 0; i < CALLS; i++) {
        call(&scene, at('a', 0), 'b');
        struct flow_event value = {
            .kind = FLOW_CALL_VALUE, .time = {scene.time}, .to = i, .next = 1};
        follow_events(&scene.stack, &value, 1);
        return_after(&scene, at('a', 0));
    }
    follow_end(&scene.stack, &(struct follow_ending){0});
    struct replay replay;
    struct replay_event events[ROOM_MAX];
    uint64_t left = 0;
    size_t count, words;
    replay_init(&replay, &scene.stack);
    while ((count = replay_read(&replay, events, ROOM_MAX, (struct nanoseconds){UINT64_MAX})) > 0) {
        for (const struct replay_event *event = events; event != events + count; event++) {
            if (event->kind != SPAN_LEAVE || event->function != id_of('b'))
                continue;
            assert_true(event->arguments > 0);
            assert_int_equal(*recorded_values_at(&scene.stack, event->arguments - 1, &words), left);
            assert_int_equal(words, 1);
            left++;
        }
    }
    assert_int_equal(left, CALLS);
    replay_free(&replay);
    scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_hold_the_same_as_single_events),
        cmocka_unit_test(nothing_is_shown_before_the_place_of_what_comes_next),
        cmocka_unit_test(recorded_values_have_no_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
