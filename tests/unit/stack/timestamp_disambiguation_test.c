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

static void assert_places(const struct given *given, size_t count, struct history_clock clock)
{
    struct history history;
    history_init(&history);
    for (size_t i = 0; i < count; i++)
        history_add(&history, (struct ticks){given[i].time}, given[i].kind, (uint32_t)i);
    struct timestamp_disambiguation disambiguation = disambiguation_of(&history, NULL, clock);
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

static const struct history_clock exact = {.is_coarse = false}, coarse = {.is_coarse = true};

#define ASSERT_PLACES(clock, ...)                                                                  \
    do {                                                                                           \
        static const struct given given[] = {__VA_ARGS__};                                         \
        assert_places(given, sizeof(given) / sizeof(given[0]), clock);                             \
    } while (0)

static void an_empty_history_has_no_places(void **state)
{
    assert_places(NULL, 0, exact);
    assert_places(NULL, 0, coarse);
}

static void times_of_their_own_are_kept(void **state)
{
    static const struct given given[] = {{7, HISTORY_BEGIN, 7},
                                         {8, HISTORY_ENTER, 8},
                                         {9, HISTORY_RETURN, 9},
                                         {100, HISTORY_ENTER, 100},
                                         {100000, HISTORY_END_TRACE, 100000}};
    assert_places(given, sizeof(given) / sizeof(given[0]), exact);
    assert_places(given, sizeof(given) / sizeof(given[0]), coarse);
}

/* ---- a clock that distinguishes what happened ---- */

static void a_call_within_a_nanosecond_has_no_length_and_moves_nothing(void **state)
{
    ASSERT_PLACES(exact, {10, HISTORY_BEGIN, 10}, {11, HISTORY_ENTER, 11}, {11, HISTORY_ENTER, 11},
                  {11, HISTORY_RETURN, 11}, {11, HISTORY_RETURN, 11}, {12, HISTORY_ENTER, 12},
                  {13, HISTORY_RETURN, 13}, {14, HISTORY_ENTER, 14}, {20, HISTORY_RETURN, 20},
                  {20, HISTORY_END_TRACE, 20});
}

/* What takes long afterwards is the caller's, whatever was called before. */
static void there_is_no_spreading_though_there_is_time(void **state)
{
    ASSERT_PLACES(exact, {10, HISTORY_BEGIN, 10}, {20, HISTORY_ENTER, 20}, {20, HISTORY_RETURN, 20},
                  {50, HISTORY_ENTER, 50}, {60, HISTORY_END_TRACE, 60});
}

static void ticks_are_rounded_down_to_nanoseconds(void **state)
{
    static const struct clock_conversion four_to_one = {.zero = 100, .mult = 1, .shift = 2};
    static const struct given given[] = {
        {40, HISTORY_BEGIN, 110}, {41, HISTORY_ENTER, 110},     {43, HISTORY_RETURN, 110},
        {44, HISTORY_ENTER, 111}, {84, HISTORY_END_TRACE, 121},
    };
    assert_places(given, sizeof(given) / sizeof(given[0]),
                  (struct history_clock){.conversion = &four_to_one});
}

/* A thread calls f every 2.7 ns, which takes 0.9 ns: a third of the time is f's, and no event is
 * early or late. */
static void sums_of_calls_shorter_than_a_nanosecond_are_right(void **state)
{
    enum { CALLS = 100000 };
    static const struct clock_conversion ten_to_one = {.mult = 6554, .shift = 16};
    const struct history_clock clock = {.conversion = &ten_to_one};
    struct history history;
    history_init(&history);
    for (uint32_t i = 0; i < CALLS; i++) {
        history_add(&history, (struct ticks){27 * i}, HISTORY_ENTER, 1);
        history_add(&history, (struct ticks){27 * i + 9}, HISTORY_RETURN, 0);
    }
    struct timestamp_disambiguation disambiguation = disambiguation_of(&history, NULL, clock);
    uint64_t inside = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        uint64_t entered = disambiguation_next(&disambiguation)->place.value;
        uint64_t left = disambiguation_next(&disambiguation)->place.value;
        uint64_t exactly = (uint64_t)(2.7 * i);
        assert_in_range(entered, exactly, exactly + exactly / 10000 + 1);
        inside += left - entered;
    }
    assert_in_range(inside, CALLS * 89 / 100, CALLS * 91 / 100);
    history_free(&history);
}

/* ---- a coarse clock ---- */

static void a_run_is_spread_evenly_until_the_next_step(void **state)
{
    ASSERT_PLACES(coarse, {5, HISTORY_BEGIN, 5}, {10, HISTORY_ENTER, 10}, {10, HISTORY_ENTER, 15},
                  {10, HISTORY_RETURN, 20}, {10, HISTORY_RETURN, 25}, {30, HISTORY_ENTER, 30},
                  {40, HISTORY_END_TRACE, 40});
}

static void what_waits_is_left_to_the_last_step(void **state)
{
    ASSERT_PLACES(coarse, {5, HISTORY_BEGIN, 5}, {10, HISTORY_ENTER, 10}, {10, HISTORY_RETURN, 20},
                  {10, HISTORY_ENTER, 30}, {10000000, HISTORY_RETURN, 10000000},
                  {10000001, HISTORY_END_TRACE, 10000001});
}

static void whole_microseconds_are_spread_over_a_microsecond(void **state)
{
    ASSERT_PLACES(coarse, {3000, HISTORY_BEGIN, 3000}, {4000, HISTORY_ENTER, 4000},
                  {4000, HISTORY_RETURN, 4500}, {5000, HISTORY_ENTER, 5000},
                  {5000, HISTORY_RETURN, 6000}, {9000, HISTORY_END_TRACE, 9000});
}

static void a_run_of_more_steps_than_nanoseconds_ends_before_the_next_step(void **state)
{
    ASSERT_PLACES(coarse, {10, HISTORY_BEGIN, 10}, {11, HISTORY_ENTER, 11}, {11, HISTORY_ENTER, 11},
                  {11, HISTORY_ENTER, 12}, {11, HISTORY_RETURN, 12}, {13, HISTORY_RETURN, 13},
                  {13, HISTORY_ENTER, 13}, {14, HISTORY_RETURN, 14}, {21, HISTORY_END_TRACE, 21});
}

static void a_run_that_nothing_follows_has_no_length(void **state)
{
    ASSERT_PLACES(coarse, {10, HISTORY_BEGIN, 10}, {10, HISTORY_ENTER, 10},
                  {10, HISTORY_END_TRACE, 10});
}

static void a_gap_begins_after_the_run_and_ends_at_its_own_time(void **state)
{
    ASSERT_PLACES(coarse, {5, HISTORY_BEGIN, 5}, {10, HISTORY_ENTER, 10}, {10, HISTORY_ENTER, 20},
                  {10, HISTORY_END_GAP, 30}, {10, HISTORY_GAP, 30}, {5000, HISTORY_GAP_END, 5000},
                  {5000, HISTORY_BEGIN, 5000}, {6001, HISTORY_END_TRACE, 6001});
}

/* A million calls in a microsecond: each nanosecond has as many, and the next step waits for none. */
static void a_million_calls_in_a_microsecond_are_spread_over_it(void **state)
{
    enum { STEPS = 1000000, LENGTH = 1000 };
    struct history history;
    history_init(&history);
    for (uint32_t i = 0; i < STEPS; i++)
        history_add(&history, (struct ticks){LENGTH}, i % 2 ? HISTORY_RETURN : HISTORY_ENTER, i);
    history_add(&history, (struct ticks){2 * LENGTH}, HISTORY_ENTER, 0);
    struct timestamp_disambiguation disambiguation = disambiguation_of(&history, NULL, coarse);
    for (uint32_t i = 0; i < STEPS; i++) {
        const struct placed_step *step = disambiguation_next(&disambiguation);
        assert_non_null(step);
        assert_int_equal(step->place.value, LENGTH + i / (STEPS / LENGTH));
    }
    assert_int_equal(disambiguation_next(&disambiguation)->place.value, 2 * LENGTH);
    history_free(&history);
}

/* Steps are placed many at once; the borders of such groups must not show. */
static void places_do_not_depend_on_how_many_steps_follow_or_went_before(void **state)
{
    enum { STEPS_MAXIMUM = 3 * DISAMBIGUATION_WINDOW };
    struct history history;
    history_init(&history);
    for (uint32_t count = 0; count < STEPS_MAXIMUM; count++) {
        struct timestamp_disambiguation disambiguation = disambiguation_of(&history, NULL, coarse);
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

/* Without times in the packets, or after the last of them, each call is shown. */
static void many_steps_that_nothing_follows_take_a_nanosecond_each(void **state)
{
    enum { TIMED = 100, CALLS = 500, STEPS = TIMED + 2 * CALLS };
    struct given given[STEPS];
    for (uint64_t i = 0; i < STEPS; i++) {
        bool is_timed = i < TIMED;
        given[i].kind = i == 0 ? HISTORY_BEGIN : i % 2 ? HISTORY_ENTER : HISTORY_RETURN;
        given[i].time = is_timed ? 3 * i : 3 * TIMED;
        given[i].place = is_timed ? 3 * i : 3 * TIMED + (i - TIMED);
    }
    assert_places(given, STEPS, exact);
    assert_places(given, STEPS, coarse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_history_has_no_places),
        cmocka_unit_test(times_of_their_own_are_kept),
        cmocka_unit_test(a_call_within_a_nanosecond_has_no_length_and_moves_nothing),
        cmocka_unit_test(there_is_no_spreading_though_there_is_time),
        cmocka_unit_test(ticks_are_rounded_down_to_nanoseconds),
        cmocka_unit_test(sums_of_calls_shorter_than_a_nanosecond_are_right),
        cmocka_unit_test(a_run_is_spread_evenly_until_the_next_step),
        cmocka_unit_test(what_waits_is_left_to_the_last_step),
        cmocka_unit_test(whole_microseconds_are_spread_over_a_microsecond),
        cmocka_unit_test(a_run_of_more_steps_than_nanoseconds_ends_before_the_next_step),
        cmocka_unit_test(a_run_that_nothing_follows_has_no_length),
        cmocka_unit_test(a_gap_begins_after_the_run_and_ends_at_its_own_time),
        cmocka_unit_test(a_million_calls_in_a_microsecond_are_spread_over_it),
        cmocka_unit_test(places_do_not_depend_on_how_many_steps_follow_or_went_before),
        cmocka_unit_test(many_steps_that_nothing_follows_take_a_nanosecond_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
