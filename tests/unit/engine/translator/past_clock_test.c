/* Many times of the past are converted at once as each would be by itself. */
#include "runtime/translator/log/clock_history.h"
#include "runtime/translator/log/clock_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { START = 1000000 };

static struct tr_control control;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 16 & 0x7fff;
}

/* Work at random times, some of which is noted late; the counter at its end. */
static uint64_t make_history(unsigned count, unsigned *random)
{
    uint64_t tsc = START, stolen = 0;
    control = (struct tr_control){.options.start_tsc = START};
    for (unsigned i = 0; i < count; i++) {
        tsc += next_random(random);
        stolen += TR_CLOCK_HISTORY_STEP + next_random(random) % 1000;
        uint64_t late = next_random(random) % 8 == 0 ? next_random(random) : 0;
        tr_clock_history_add(&control.clock_history, tsc - late, stolen);
    }
    atomic_store(&control.clock, stolen);
    return tsc;
}

static void check_back_from(uint64_t tsc, unsigned steps, unsigned *random)
{
    struct tr_past_clock clock = tr_past_clock_begin(&control);
    for (unsigned i = 0; i < steps && tsc > START / 2; i++) {
        assert_int_equal(tr_past_clock_time(&clock, tsc), tr_clock_convert(&control, tsc));
        tsc -= next_random(random) % 4096;
    }
}

static void times_are_those_of_single_conversions(void **state)
{
    static const unsigned counts[] = {0, 1, 2, 100, TR_CLOCK_HISTORY, 2 * TR_CLOCK_HISTORY + 5};
    unsigned random = 1;
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t end = make_history(counts[i], &random);
        check_back_from(end + 100, 2000, &random);
        check_back_from(START + 5000, 20, &random);
        uint64_t now = end - atomic_load(&control.clock);
        atomic_store(&control.stolen, atomic_load(&control.clock));
        atomic_store(&control.clock, tr_clock_stand_at(now, START));
        check_back_from(end + 100, 2000, &random);
        atomic_store(&control.clock_history.entries[0].tsc, 0); /* it is being written */
        check_back_from(end + 100, 2000, &random);
    }
}

static void times_before_the_history_are_not_known(void **state)
{
    unsigned random = 2;
    (void)state;
    uint64_t end = make_history(2 * TR_CLOCK_HISTORY, &random);
    struct tr_past_clock clock = tr_past_clock_begin(&control);
    tr_past_clock_time(&clock, end);
    assert_false(clock.ends);
    tr_past_clock_time(&clock, START);
    assert_true(clock.ends);
    end = make_history(100, &random);
    clock = tr_past_clock_begin(&control);
    tr_past_clock_time(&clock, START);
    assert_false(clock.ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_those_of_single_conversions),
        cmocka_unit_test(times_before_the_history_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
