/* Where steps that share a time are shown. */
#include "stack/spans/timestamp_disambiguation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct given {
    uint64_t time;
    enum history_kind kind;
    uint64_t place; /* expected */
};

static void assert_places(const struct given *given, size_t count,
                          const struct clock_conversion *clock)
{
    struct history history;
    history_init(&history);
    for (size_t i = 0; i < count; i++)
        history_add(&history, (struct ticks){given[i].time}, given[i].kind, (uint32_t)i);
    struct timestamp_disambiguation disambiguation = disambiguation_of(&history, clock);
    for (size_t i = 0; i < count; i++) {
        const struct placed_step *step = disambiguation_next(&disambiguation);
        assert_non_null(step);
        assert_int_equal(step->step.frame, i);
        assert_int_equal(step->step.kind, given[i].kind);
        if (step->place.value != given[i].place)
            fail_msg("step %zu: place %lu, expected %lu", i, step->place.value, given[i].place);
    }
    assert_null(disambiguation_next(&disambiguation));
    history_free(&history);
}

#define ASSERT_PLACES(...)                                                                         \
    do {                                                                                           \
        static const struct given given[] = {__VA_ARGS__};                                         \
        assert_places(given, sizeof(given) / sizeof(given[0]), NULL);                              \
    } while (0)

static void an_empty_history_has_no_places(void **state)
{
    assert_places(NULL, 0, NULL);
}

static void times_of_their_own_are_kept(void **state)
{
    ASSERT_PLACES({7, HISTORY_BEGIN, 7}, {8, HISTORY_ENTER, 8}, {9, HISTORY_RETURN, 9},
                  {100, HISTORY_ENTER, 100}, {100000, HISTORY_END_TRACE, 100000});
}

static void a_run_is_spread_evenly_until_the_next_step(void **state)
{
    ASSERT_PLACES({5, HISTORY_BEGIN, 5}, {10, HISTORY_ENTER, 10}, {10, HISTORY_ENTER, 15},
                  {10, HISTORY_RETURN, 20}, {10, HISTORY_RETURN, 25}, {30, HISTORY_ENTER, 30},
                  {40, HISTORY_END_TRACE, 40});
}

static void what_waits_is_left_to_the_last_step(void **state)
{
    ASSERT_PLACES({5, HISTORY_BEGIN, 5}, {10, HISTORY_ENTER, 10}, {10, HISTORY_RETURN, 20},
                  {10, HISTORY_ENTER, 30}, {10000000, HISTORY_RETURN, 10000000},
                  {10000001, HISTORY_END_TRACE, 10000001});
}

static void whole_microseconds_are_spread_over_a_microsecond(void **state)
{
    ASSERT_PLACES({3000, HISTORY_BEGIN, 3000}, {4000, HISTORY_ENTER, 4000},
                  {4000, HISTORY_RETURN, 4500}, {5000, HISTORY_ENTER, 5000},
                  {5000, HISTORY_RETURN, 6000}, {9000, HISTORY_END_TRACE, 9000});
}

static void calls_nearer_than_a_nanosecond_slip_and_catch_up(void **state)
{
    ASSERT_PLACES({10, HISTORY_BEGIN, 10}, {11, HISTORY_ENTER, 11}, {11, HISTORY_ENTER, 12},
                  {11, HISTORY_ENTER, 13}, {12, HISTORY_ENTER, 14}, {13, HISTORY_RETURN, 15},
                  {14, HISTORY_ENTER, 15}, {20, HISTORY_RETURN, 20}, {21, HISTORY_END_TRACE, 21});
}

static void returns_need_no_time_when_there_is_none(void **state)
{
    ASSERT_PLACES({10, HISTORY_BEGIN, 10}, {11, HISTORY_ENTER, 11}, {12, HISTORY_ENTER, 12},
                  {13, HISTORY_RETURN, 13}, {13, HISTORY_RETURN, 13}, {13, HISTORY_ENTER, 13},
                  {14, HISTORY_END_TRACE, 14});
}

static void the_last_call_of_all_has_a_length(void **state)
{
    ASSERT_PLACES({10, HISTORY_BEGIN, 10}, {10, HISTORY_ENTER, 11}, {10, HISTORY_END_TRACE, 12});
}

static void a_gap_begins_after_the_run_and_ends_at_its_own_time(void **state)
{
    ASSERT_PLACES({5, HISTORY_BEGIN, 5}, {10, HISTORY_ENTER, 10}, {10, HISTORY_ENTER, 20},
                  {10, HISTORY_END_GAP, 30}, {10, HISTORY_GAP, 30}, {5000, HISTORY_GAP_END, 5000},
                  {5000, HISTORY_BEGIN, 5000}, {6001, HISTORY_END_TRACE, 6001});
}

static void ticks_within_a_nanosecond_are_a_run(void **state)
{
    static const struct clock_conversion four_to_one = {.zero = 100, .mult = 1, .shift = 2};
    static const struct given given[] = {
        {40, HISTORY_BEGIN, 110}, {41, HISTORY_ENTER, 113},     {42, HISTORY_RETURN, 116},
        {80, HISTORY_ENTER, 120}, {84, HISTORY_END_TRACE, 121},
    };
    assert_places(given, sizeof(given) / sizeof(given[0]), &four_to_one);
}

/* Every call at one time, and then a pause as long as their number: after it the slip is gone. */
static void a_million_calls_at_once_slip_by_their_number(void **state)
{
    enum { CALLS = 1000000 };
    struct history history;
    history_init(&history);
    history_add(&history, (struct ticks){0}, HISTORY_BEGIN, 0);
    for (uint32_t i = 0; i < CALLS; i++)
        history_add(&history, (struct ticks){1}, i % 2 ? HISTORY_RETURN : HISTORY_ENTER, i);
    history_add(&history, (struct ticks){2}, HISTORY_ENTER, 0);
    history_add(&history, (struct ticks){2 + CALLS}, HISTORY_ENTER, 0);
    struct timestamp_disambiguation disambiguation = disambiguation_of(&history, NULL);
    uint64_t before = 0;
    for (uint32_t i = 0; i < CALLS + 2; i++) {
        const struct placed_step *step = disambiguation_next(&disambiguation);
        assert_non_null(step);
        assert_true(step->place.value >= before);
        before = step->place.value;
    }
    assert_int_equal(before, 1 + CALLS / 2);
    const struct placed_step *last = disambiguation_next(&disambiguation);
    assert_non_null(last);
    assert_int_equal(last->place.value, 2 + CALLS);
    history_free(&history);
}

/* Steps are placed many at once; the borders of such groups must not show. */
static void places_do_not_depend_on_how_many_steps_follow_or_went_before(void **state)
{
    enum { STEPS_MAXIMUM = 3 * DISAMBIGUATION_WINDOW };
    struct history history;
    history_init(&history);
    for (uint32_t count = 0; count < STEPS_MAXIMUM; count++) {
        struct timestamp_disambiguation disambiguation = disambiguation_of(&history, NULL);
        for (uint32_t i = 0; i < count; i++) {
            const struct history_step *peeked = disambiguation_peek(&disambiguation);
            assert_non_null(peeked);
            assert_int_equal(peeked->frame, i);
            /* Runs of three, ten nanoseconds after each other: one step every 3 ns. */
            const struct placed_step *step = disambiguation_next(&disambiguation);
            assert_non_null(step);
            assert_int_equal(step->time.value, i / 3 * 10);
            bool run_ends = (count - 1) / 3 > i / 3;
            if (run_ends)
                assert_int_equal(step->place.value, i / 3 * 10 + i % 3 * 10 / 3);
        }
        assert_null(disambiguation_peek(&disambiguation));
        assert_null(disambiguation_next(&disambiguation));
        assert_null(disambiguation_next(&disambiguation));
        history_add(&history, (struct ticks){count / 3 * 10}, HISTORY_RETURN, count);
    }
    history_free(&history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_history_has_no_places),
        cmocka_unit_test(times_of_their_own_are_kept),
        cmocka_unit_test(a_run_is_spread_evenly_until_the_next_step),
        cmocka_unit_test(what_waits_is_left_to_the_last_step),
        cmocka_unit_test(whole_microseconds_are_spread_over_a_microsecond),
        cmocka_unit_test(places_do_not_depend_on_how_many_steps_follow_or_went_before),
        cmocka_unit_test(calls_nearer_than_a_nanosecond_slip_and_catch_up),
        cmocka_unit_test(returns_need_no_time_when_there_is_none),
        cmocka_unit_test(the_last_call_of_all_has_a_length),
        cmocka_unit_test(a_gap_begins_after_the_run_and_ends_at_its_own_time),
        cmocka_unit_test(ticks_within_a_nanosecond_are_a_run),
        cmocka_unit_test(a_million_calls_at_once_slip_by_their_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
