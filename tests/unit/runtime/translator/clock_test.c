/* The recording's clock, with the test's own processes and the real time-stamp counter: it stands still while a thread
 * works, for all threads, and goes on from there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/clock_history.h"
#include "runtime/translator/log/clock_state.h"
#include "runtime/translator/system.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MILLISECOND = 2000000 }; /* ticks */

struct fixture {
    struct tr_control control;
    struct tr_process process;
    struct tr_thread threads[2];
};

static struct fixture fixture;

static int begin(void **state)
{
    fixture = (struct fixture){0};
    fixture.control.options.start_tsc = tr_rdtsc();
    fixture.control.options.tsc_hz = UINT64_C(1) << 60; /* no work takes long */
    fixture.process.control = &fixture.control;
    fixture.process.steals_time = true;
    for (unsigned i = 0; i < 2; i++)
        fixture.threads[i].process = &fixture.process;
    *state = &fixture;
    return 0;
}

static void wait_ticks(uint64_t ticks)
{
    for (uint64_t since = tr_rdtsc(); tr_rdtsc() - since < ticks;)
        ;
}

static bool stands(struct fixture *here)
{
    return tr_clock_stands(atomic_load(&here->control.clock));
}

static void test_runs(void **state)
{
    struct fixture *here = *state;
    uint64_t before = tr_rdtsc(), time = tr_time(&here->threads[0]);
    assert_in_range(time, before, tr_rdtsc());
}

static void test_leaves_translation_out_of_processor_time(void **state)
{
    struct fixture *here = *state;
    struct tr_thread *thread = &here->threads[0];
    here->control.options.tsc_hz = 1000000000; /* ticks are nanoseconds of the kernel's account */
    here->control.options.on_cpu = true;
    uint64_t before = tr_processor_time(thread);
    tr_clock_begin_translation(thread);
    while (tr_processor_time(thread) - before < MILLISECOND)
        ;
    tr_clock_end_translation(thread);
    assert_true(thread->translated > MILLISECOND / 2);
    assert_true(tr_processor_time(thread) - before < MILLISECOND / 2);
}

static void *work_under_the_lock(void *thread)
{
    tr_clock_begin_locked_work(thread);
    return NULL;
}

/* The one that has the lock may run its program's code before the one that waits gets a processor. */
static void test_waiting_for_the_lock_is_no_work(void **state)
{
    enum { CONTENDED = 2 };
    struct fixture *here = *state;
    pthread_t worker;
    tr_lock(&here->process.lock);
    assert_int_equal(pthread_create(&worker, NULL, work_under_the_lock, &here->threads[0]), 0);
    while (__atomic_load_n(&here->process.lock, __ATOMIC_RELAXED) != CONTENDED)
        sched_yield();
    assert_false(stands(here));
    tr_unlock(&here->process.lock);
    pthread_join(worker, NULL);
    assert_true(stands(here));
    tr_clock_end_locked_work(&here->threads[0]);
    assert_false(stands(here));
    assert_int_equal(here->process.lock, 0);
}

/* Other threads' clocks stand, too: what they do meanwhile cannot be later than what the worker does next. */
static void test_stands_for_all(void **state)
{
    struct fixture *here = *state;
    struct tr_thread *worker = &here->threads[0], *other = &here->threads[1];
    tr_clock_begin_work(worker);
    uint64_t standing = tr_time(worker);
    wait_ticks(1000);
    assert_int_equal(tr_time(other), standing);
    tr_clock_end_work(worker);
    assert_false(stands(here));
    uint64_t stolen = atomic_load(&here->control.clock), now = tr_time(worker);
    assert_true(stolen >= 1000);
    assert_in_range(now, standing, tr_rdtsc() - stolen);
}

static void test_stands_until_the_last_has_ended(void **state)
{
    struct fixture *here = *state;
    tr_clock_begin_work(&here->threads[0]);
    uint64_t standing = tr_time(&here->threads[1]);
    tr_clock_begin_work(&here->threads[1]);
    assert_int_equal(tr_clock_workers(atomic_load(&here->control.clock)), 2);
    tr_clock_end_work(&here->threads[0]);
    assert_true(stands(here));
    assert_int_equal(tr_time(&here->threads[0]), standing + 1);
    tr_clock_end_work(&here->threads[1]);
    assert_false(stands(here));
}

/* A thread that lost its processor at the exchange of the state must find that another one has worked. */
static void test_a_state_does_not_come_back(void **state)
{
    struct fixture *here = *state;
    tr_clock_begin_work(&here->threads[0]);
    uint64_t alone = atomic_load(&here->control.clock);
    tr_clock_begin_work(&here->threads[1]);
    tr_clock_end_work(&here->threads[1]);
    assert_int_equal(tr_clock_workers(atomic_load(&here->control.clock)), 1);
    assert_int_not_equal(atomic_load(&here->control.clock), alone);
    tr_clock_end_work(&here->threads[0]);
}

/* As when the thread that works was killed. */
static void test_goes_on_after_a_long_stand(void **state)
{
    struct fixture *here = *state;
    here->control.options.tsc_hz = 5 * MILLISECOND * UINT64_C(1000); /* 200 us are as many ticks */
    tr_clock_begin_work(&here->threads[0]);
    uint64_t standing = tr_time(&here->threads[0]);
    wait_ticks(3 * MILLISECOND);
    uint64_t time = tr_time(&here->threads[1]);
    assert_false(stands(here));
    assert_int_equal(atomic_load(&here->control.clock), MILLISECOND);
    assert_true(time >= standing + 2 * MILLISECOND);
    /* The thread that worked so long did so in its own time. */
    tr_clock_end_work(&here->threads[0]);
    assert_int_equal(atomic_load(&here->control.clock), MILLISECOND);
    assert_true(tr_time(&here->threads[0]) >= time);
}

/* As when a thread was interrupted before it says that it works, and others have used up more time since then than had passed: or
 * processors' counters differ. */
/* As if it had begun just now, at the time at which the clock stands. */
static void test_prolonged(void **state)
{
    struct fixture *here = *state;
    tr_clock_begin_work(&here->threads[0]);
    uint64_t standing = tr_time(&here->threads[0]);
    wait_ticks(1000);
    uint64_t before = tr_rdtsc();
    tr_clock_prolong_work(&here->control);
    assert_in_range(standing + atomic_load(&here->control.stolen), before, tr_rdtsc());
    assert_int_equal(tr_time(&here->threads[1]), standing);
    wait_ticks(1000);
    tr_clock_end_work(&here->threads[0]);
    assert_true(atomic_load(&here->control.clock) >= 2000);
    uint64_t clock = atomic_load(&here->control.clock);
    tr_clock_prolong_work(&here->control); /* the clock runs */
    assert_int_equal(atomic_load(&here->control.clock), clock);
    assert_true(atomic_load(&here->control.stolen) <= clock);
}

static void test_never_stands_before_the_beginning(void **state)
{
    struct fixture *here = *state;
    struct tr_thread *worker = &here->threads[0];
    uint64_t start = here->control.options.start_tsc,
             stolen = tr_rdtsc() - start + UINT64_C(1000) * MILLISECOND;
    atomic_store(&here->control.clock, stolen);
    tr_clock_begin_work(worker);
    assert_int_equal(tr_time(worker), start);
    tr_clock_end_work(worker);
    assert_false(stands(here));
    assert_int_equal(atomic_load(&here->control.clock), stolen);
}

/* A thread that ends its work late may end that of another one, which began after it had looked at its counter. */
static void test_never_goes_on_before_it_stood(void **state)
{
    struct fixture *here = *state;
    uint64_t start = here->control.options.start_tsc;
    atomic_store(&here->control.stolen, 5000);
    atomic_store(&here->control.clock,
                 tr_clock_stand_at(tr_rdtsc() + UINT64_C(1000) * MILLISECOND, start));
    tr_clock_end_work(&here->threads[0]);
    assert_false(stands(here));
    assert_int_equal(atomic_load(&here->control.clock), 5000);
}

/* A thread that saw the clock run long ago does not make forgotten what was used up since then. */
static void test_what_was_used_up_stays_so(void **state)
{
    struct fixture *here = *state;
    atomic_store(&here->control.stolen, 7000);
    atomic_store(&here->control.clock, 6000);
    tr_clock_begin_work(&here->threads[0]);
    assert_int_equal(atomic_load(&here->control.stolen), 7000);
    tr_clock_end_work(&here->threads[0]);
    assert_true(atomic_load(&here->control.clock) >= 7000);
}

static void test_more_workers_than_can_be_counted(void **state)
{
    struct fixture *here = *state;
    tr_clock_begin_work(&here->threads[0]);
    uint64_t standing = tr_time(&here->threads[0]);
    for (unsigned i = 0; i < 2000; i++)
        tr_clock_begin_work(&here->threads[1]);
    assert_true(stands(here));
    assert_int_equal(
        tr_clock_standing(atomic_load(&here->control.clock), here->control.options.start_tsc),
        standing);
    for (unsigned i = 0; i < 2001; i++)
        tr_clock_end_work(&here->threads[1]);
    assert_false(stands(here));
}

static void test_host_clock(void **state)
{
    struct fixture *here = *state;
    here->process.steals_time = false;
    tr_clock_begin_work(&here->threads[0]);
    assert_int_equal(atomic_load(&here->control.clock), 0);
    uint64_t before = tr_rdtsc();
    assert_true(tr_time(&here->threads[0]) >= before);
    tr_clock_end_work(&here->threads[0]);
    assert_int_equal(atomic_load(&here->control.clock), 0);
}

/* What the program read from the time-stamp counter itself. */
static void test_time_of_the_past(void **state)
{
    struct fixture *here = *state;
    uint64_t before = tr_rdtsc(), time_before = tr_time(&here->threads[0]);
    tr_clock_begin_work(&here->threads[0]);
    uint64_t standing = tr_time(&here->threads[0]);
    wait_ticks(1000);
    uint64_t within = tr_rdtsc();
    assert_int_equal(tr_clock_convert(&here->control, within), standing);
    tr_clock_end_work(&here->threads[0]);
    assert_int_equal(tr_clock_convert(&here->control, within), standing);
    assert_true(tr_clock_convert(&here->control, before) <= time_before);
    uint64_t after = tr_rdtsc();
    assert_int_equal(tr_clock_convert(&here->control, after),
                     after - atomic_load(&here->control.clock));
}

/* More often than the history has entries: what was long ago is converted as before, within what they are too small for. */
static void test_brief_work_leaves_the_past(void **state)
{
    struct fixture *here = *state;
    tr_clock_begin_work(&here->threads[0]);
    wait_ticks(1000);
    tr_clock_end_work(&here->threads[0]);
    uint64_t past = tr_rdtsc(), then = tr_clock_convert(&here->control, past);
    uint64_t stolen = atomic_load(&here->control.clock), tsc = past;
    for (unsigned i = 0; i < TR_CLOCK_HISTORY + 1; i++)
        tr_clock_history_add(&here->control.clock_history, tsc += 50, stolen += 20);
    assert_int_equal(tr_clock_convert(&here->control, past), then);
    uint64_t error = tr_clock_convert(&here->control, tsc) - (tsc - stolen);
    assert_in_range(error, 0, TR_CLOCK_HISTORY_STEP);
}

/* Of what is older than the history, the clock showed no more than what is converted for the oldest time in it. */
static void test_time_before_the_history(void **state)
{
    struct fixture *here = *state;
    uint64_t past = tr_rdtsc(), tsc = past, stolen = 0;
    for (unsigned i = 0; i < 2 * TR_CLOCK_HISTORY; i++)
        tr_clock_history_add(&here->control.clock_history, tsc += 5000, stolen += 1000);
    uint64_t oldest = past + (TR_CLOCK_HISTORY + 1) * UINT64_C(5000);
    assert_in_range(tr_clock_convert(&here->control, past), 0,
                    tr_clock_convert(&here->control, oldest));
    assert_int_equal(tr_clock_convert(&here->control, oldest),
                     past + (TR_CLOCK_HISTORY + 1) * UINT64_C(4000));
}

/* A thread may lose its processor before it adds what it has worked: others have added theirs then. */
static void test_a_late_entry_changes_nothing(void **state)
{
    struct fixture *here = *state;
    struct tr_clock_history *history = &here->control.clock_history;
    uint64_t past = tr_rdtsc();
    tr_clock_history_add(history, past + 10000, 1000);
    tr_clock_history_add(history, past + 30000, 9000);
    uint64_t times[40];
    for (unsigned i = 0; i < 40; i++)
        times[i] = tr_clock_convert(&here->control, past + 1000 * i);
    tr_clock_history_add(history, past + 20000, 2000);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(tr_clock_convert(&here->control, past + 1000 * i), times[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* Without what the others leave in the history. */
        cmocka_unit_test_setup(test_time_of_the_past, begin),
        cmocka_unit_test_setup(test_runs, begin),
        cmocka_unit_test_setup(test_leaves_translation_out_of_processor_time, begin),
        cmocka_unit_test_setup(test_waiting_for_the_lock_is_no_work, begin),
        cmocka_unit_test_setup(test_stands_for_all, begin),
        cmocka_unit_test_setup(test_stands_until_the_last_has_ended, begin),
        cmocka_unit_test_setup(test_a_state_does_not_come_back, begin),
        cmocka_unit_test_setup(test_goes_on_after_a_long_stand, begin),
        cmocka_unit_test_setup(test_prolonged, begin),
        cmocka_unit_test_setup(test_never_stands_before_the_beginning, begin),
        cmocka_unit_test_setup(test_never_goes_on_before_it_stood, begin),
        cmocka_unit_test_setup(test_what_was_used_up_stays_so, begin),
        cmocka_unit_test_setup(test_more_workers_than_can_be_counted, begin),
        cmocka_unit_test_setup(test_host_clock, begin),
        cmocka_unit_test_setup(test_brief_work_leaves_the_past, begin),
        cmocka_unit_test_setup(test_time_before_the_history, begin),
        cmocka_unit_test_setup(test_a_late_entry_changes_nothing, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
