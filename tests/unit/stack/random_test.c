/* Random programs: exact if nothing is missing, and always well formed. */
#include "random_program.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* A signal handler that longjmp has returned to, while it is not known yet in which activation,
 * looks like a called function: its return to the restorer then looks like a jump. */
static bool is_handler_landed_in(const struct replay_event *got,
                                 const struct replay_event *expected)
{
    return got->end == SPAN_END_TAIL_CALL && expected->end == SPAN_END_RETURN;
}

struct judged {
    size_t events, tolerated;
    bool different;
};

/* Prints a difference, if it is the first. */
static void judge_event(struct judged *judged, const struct replay_event *got,
                        const struct replay_event *expected, size_t index)
{
    if (judged->different)
        return;
    bool tolerated = is_handler_landed_in(got, expected);
    bool same = got->kind == expected->kind && got->time.value == expected->time.value;
    if (got->kind != SPAN_INSTANT)
        same = same && got->function == expected->function && got->address == expected->address &&
               got->flags == expected->flags && (got->end == expected->end || tolerated);
    if (!same)
        print_message("span event %zu: got kind %d function %u time %lu end %d flags %d, "
                      "expected kind %d function %u time %lu end %d flags %d\n",
                      index, got->kind, got->function, got->time.value, got->end, got->flags,
                      expected->kind, expected->function, expected->time.value, expected->end,
                      expected->flags);
    judged->different = !same;
    judged->tolerated += tolerated;
    judged->events++;
}

static struct judged judge_spans(uint64_t seed, size_t event_count)
{
    struct judged judged = {0};
    struct random_program program;
    struct code_view code = random_program_code();
    struct thread_stack stack;
    struct replay replay;
    struct replay_event events[64];
    size_t count;

    random_program_make(&program, seed, event_count);
    thread_stack_init(&stack, &code);
    stack.no_stitching = true;
    follow_events(&stack, program.events.elements, program.events.count);
    follow_end(&stack, &(struct follow_ending){0});
    replay_init(&replay, &stack);
    while ((count = replay_read(&replay, events, 64, (struct nanoseconds){UINT64_MAX})) > 0) {
        for (size_t i = 0; i < count && judged.events < program.truth.count; i++)
            judge_event(&judged, &events[i], array_at(&program.truth, judged.events),
                        judged.events);
    }
    assert_true(judged.different || judged.events == program.truth.count);
    assert_well_formed(&stack);
    replay_free(&replay);
    thread_stack_free(&stack);
    random_program_free(&program);
    return judged;
}

/* All but three, where a function that a handler has interrupted is left in a way that would show another caller, had the
 * handler swapped stacks (sigreturn_switch.h): then its callers are unknown. */
static void spans_of_small_programs_equal_the_truth(void **state)
{
    size_t different = 0, events = 0, tolerated = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct judged judged = judge_spans(seed, 200);
        different += judged.different;
        events += judged.events;
        tolerated += judged.tolerated;
    }
    assert_true(different <= 3);
    assert_true(tolerated * 1000 <= events); /* their first signals are most of what they have */
}

static void spans_of_a_million_events_equal_the_truth(void **state)
{
    struct judged judged = judge_spans(1, 1000000);
    assert_false(judged.different);
    assert_true(judged.tolerated * 10000 <= judged.events);
}

static void follow_damaged(const struct random_program *program, uint64_t *random,
                           unsigned percent_dropped)
{
    struct code_view code = random_program_code();
    struct thread_stack stack;
    thread_stack_init(&stack, &code);
    for (size_t i = 0; i < program->events.count; i++)
        if (random_number(random) % 100 >= percent_dropped)
            follow_events(&stack, array_at(&program->events, i), 1);
    follow_end(&stack, &(struct follow_ending){0});
    assert_well_formed(&stack);
    thread_stack_free(&stack);
}

static void dropped_events_leave_spans_well_formed(void **state)
{
    static const unsigned percents[] = {1, 10, 50, 90};
    uint64_t random = 7;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct random_program program;
        random_program_make(&program, seed, 5000);
        for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
            follow_damaged(&program, &random, percents[i]);
        random_program_free(&program);
    }
}

/* Follows the program without some of its returns; returns how many events had to be repaired. */
static uint64_t repaired_without_returns(const struct random_program *program, size_t every,
                                         size_t *dropped)
{
    const struct flow_event *events = program->events.elements;
    struct code_view code = random_program_code();
    struct thread_stack stack;
    uint64_t repaired;
    thread_stack_init(&stack, &code);
    for (size_t i = 0; i < program->events.count; i++) {
        if (i % every == every - 1 && events[i].kind == FLOW_RETURN)
            ++*dropped;
        else
            follow_events(&stack, &events[i], 1);
    }
    follow_end(&stack, &(struct follow_ending){0});
    repaired = stack.statistics.repaired;
    assert_well_formed(&stack);
    thread_stack_free(&stack);
    return repaired;
}

static void a_dropped_return_does_not_spoil_what_follows(void **state)
{
    struct random_program program;
    size_t none = 0, some = 0;
    uint64_t before, after;
    random_program_make(&program, 3, 20000);
    before = repaired_without_returns(&program, SIZE_MAX, &none);
    after = repaired_without_returns(&program, 100, &some);
    assert_int_equal(none, 0);
    assert_true(some > 50);
    assert_true(after <= before + some);
    random_program_free(&program);
}

static struct flow_event random_event(uint64_t *random)
{
    struct flow_event event = {
        .time = {random_number(random) % 100000},
        .from = random_number(random) % 0x40000,
        .to = random_number(random) % 4 ? random_number(random) % 0x40000 : 0,
        .next = random_number(random) % 0x40000,
        .kind = (uint8_t)(random_number(random) % (FLOW_GAP + 2)), /* one that does not exist too */
        .flags = (uint8_t)random_number(random),
        .gap = (uint8_t)(random_number(random) % (FLOW_GAP_NO_IMAGE + 1)),
        .error = (uint8_t)random_number(random),
    };
    event.function = (function_id)(random_number(random) % 40);
    return event;
}

static void nonsense_leaves_spans_well_formed(void **state)
{
    uint64_t random = 11;
    for (int round = 0; round < 200; round++) {
        struct code_view code = random_program_code();
        struct thread_stack stack;
        thread_stack_init(&stack, &code);
        for (int i = 0; i < 1000; i++) {
            struct flow_event event = random_event(&random);
            follow_events(&stack, &event, 1);
        }
        follow_end(&stack, &(struct follow_ending){0});
        assert_well_formed(&stack);
        thread_stack_free(&stack);
    }
}

/* A stack a million frames deep and returns that fit nothing: each must be cheap, or this test
 * takes hours. */
static void strange_returns_on_a_deep_stack_cost_little(void **state)
{
    struct scene s;
    scene_init(&s);
    resume(&s, at('a', 0));
    call(&s, at('a', 0x10), 'b');
    for (int i = 0; i < 1000000; i++)
        call(&s, at('b', 0x10), 'b');
    for (int i = 0; i < 100000; i++) {
        return_to(&s, at('x', 0x33));
        return_to(&s, at('y', 0x33));
        call(&s, at('y', 0x10), 'z');
        return_to(&s, at('y', 0x70));
    }
    return_after(&s, at('a', 0x10));
    follow_end(&s.stack, &(struct follow_ending){0});
    assert_well_formed(&s.stack);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_of_small_programs_equal_the_truth),
        cmocka_unit_test(spans_of_a_million_events_equal_the_truth),
        cmocka_unit_test(dropped_events_leave_spans_well_formed),
        cmocka_unit_test(a_dropped_return_does_not_spoil_what_follows),
        cmocka_unit_test(nonsense_leaves_spans_well_formed),
        cmocka_unit_test(strange_returns_on_a_deep_stack_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
