#include "runtime/translator/log/clock.h"

#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock_history.h"
#include "runtime/translator/log/clock_state.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>

/* All but one work in a thousand takes less; a thread that loses its processor in its work is often off it for ten times as long. */
enum { LONGEST_STAND = 200 }; /* microseconds */

/* A thread that works may have been killed, or have lost its processor: after a while the clock goes on. Returns its
 * state. */
static uint64_t end_long_stand(struct tr_control *control, uint64_t state, uint64_t tsc)
{
    const struct tr_options *options = &control->options;
    uint64_t stolen = atomic_load(&control->stolen),
             most = options->tsc_hz / 1000000 * LONGEST_STAND;
    uint64_t since = tr_clock_standing(state, options->start_tsc) + stolen;
    if ((int64_t)(tsc - since) <= (int64_t)most)
        return state;
    tr_clock_history_add(&control->clock_history, since + most, stolen + most);
    return atomic_compare_exchange_strong(&control->clock, &state, stolen + most) ? stolen + most
                                                                                  : state;
}

static uint64_t time_at(struct tr_thread *thread, uint64_t tsc)
{
    struct tr_control *control = thread->process->control;
    uint64_t state = atomic_load(&control->clock);
    if (tr_clock_stands(state))
        state = end_long_stand(control, state, tsc);
    uint64_t now = tr_clock_time(state, control->options.start_tsc, tsc);
    if (now < thread->hot.last_time)
        now = thread->hot.last_time;
    thread->hot.last_time = now;
    return now;
}

uint64_t tr_time(struct tr_thread *thread)
{
    bool stands = thread->works && thread->process->steals_time;
    return time_at(thread, stands ? thread->hot.entered : tr_rdtsc());
}

/* Not when the work began: a thread that loses its processor while it works stops the clock for a moment only, and others run
 * what has been there until now. */
uint64_t tr_clock_new_moment(struct tr_thread *thread)
{
    uint64_t now = time_at(thread, tr_rdtsc());
    if (!thread->new_code)
        now = thread->hot.last_time = now + TR_MOMENT;
    return now;
}

/* The kernel's account, in ticks. */
static uint64_t thread_time(const struct tr_thread *thread)
{
    enum { CLOCK_THREAD_CPUTIME_ID = 3, NANOSECONDS = 1000000000 };
    uint64_t time[2] = {0}, hz = thread->process->control->options.tsc_hz;
    tr_syscall(__NR_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (uint64_t)time, 0);
    return time[0] * hz + time[1] * hz / NANOSECONDS;
}

uint64_t tr_processor_time(const struct tr_thread *thread)
{
    return thread_time(thread) - thread->translated;
}

void tr_clock_begin_translation(struct tr_thread *thread)
{
    if (thread->process->control->options.on_cpu)
        thread->translation_began = thread_time(thread);
}

void tr_clock_end_translation(struct tr_thread *thread)
{
    if (thread->process->control->options.on_cpu)
        thread->translated += thread_time(thread) - thread->translation_began;
}

/* What the clock takes off the TSC, running; it never grows less. A thread that was interrupted may come late with its `state`. */
static void note_stolen(struct tr_control *control, uint64_t state)
{
    uint64_t known = atomic_load(&control->stolen);
    while (known < state && !atomic_compare_exchange_weak(&control->stolen, &known, state))
        ;
}

/* The clock, which ran in state `before`, was stopped at a TSC value from long ago: this thread was off its processor before it could
 * do so, and others have noted later times. It goes on to the time now. */
static void catch_up(struct tr_control *control, uint64_t before, uint64_t stopped, uint64_t tsc)
{
    uint64_t start = control->options.start_tsc, state = atomic_load(&control->clock), next;
    do {
        if (!tr_clock_stands(state) || tr_clock_standing(state, start) != stopped)
            return;
        uint64_t others = tr_clock_workers(state) - 1;
        next = tr_clock_stand_at(tsc - before, start) + others * TR_CLOCK_WORKER;
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
}

/* The TSC is read after the state: when the state is still the same at the exchange, nobody has worked in between, however
 * long this thread was off its processor. A TSC from before, with what others have used up since then taken off, would be a time
 * long ago, even before the recording. */
void tr_clock_begin_work(struct tr_thread *thread)
{
    enum { AT_ONCE = 1000 }; /* ticks: the exchange takes less unless the thread is interrupted */
    struct tr_control *control = thread->process->control;
    uint64_t state = atomic_load(&control->clock), start = control->options.start_tsc, next;
    bool stops;
    thread->hot.entered = tr_rdtsc();
    thread->works = true;
    if (!thread->process->steals_time)
        return;
    do {
        uint64_t begin = thread->hot.entered = tr_rdtsc();
        if (tr_clock_stands(state))
            state = end_long_stand(control, state, begin);
        stops = !tr_clock_stands(state);
        if (!stops) {
            next = state + TR_CLOCK_WORKER;
            if (!tr_clock_stands(next)) /* more than can be counted */
                return;
        } else {
            note_stolen(control, state);
            next = tr_clock_stand_at(begin - state, start);
        }
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
    uint64_t begin = thread->hot.entered, now = tr_rdtsc();
    if (!stops || now - begin < AT_ONCE)
        return;
    thread->hot.entered = now;
    catch_up(control, state, tr_clock_standing(next, start), now);
}

/* What a clock that stands in `state` takes off the TSC when it runs again at `end`: no less than before, also where the
 * processors' counters differ. */
static uint64_t stolen_at(const struct tr_control *control, uint64_t state, uint64_t end)
{
    uint64_t before = atomic_load(&control->stolen);
    uint64_t after = end - tr_clock_standing(state, control->options.start_tsc);
    return (int64_t)(after - before) < 0 ? before : after;
}

/* One of several threads that work is done. The clock goes on by a tick: another one that loses its processor at the exchange of
 * its own state is to find it changed, and not to let the clock run from a TSC value before this thread's stamps. */
static uint64_t without_worker(uint64_t state)
{
    return state - TR_CLOCK_WORKER + 1;
}

void tr_clock_end_work(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    thread->works = false;
    if (!thread->process->steals_time)
        return;
    uint64_t state = atomic_load(&control->clock), end, next;
    do {
        if (!tr_clock_stands(state)) /* it took too long */
            return;
        end = tr_rdtsc(); /* after the state, as above */
        next = tr_clock_workers(state) > 1 ? without_worker(state) : stolen_at(control, state, end);
        if (!tr_clock_stands(next))
            tr_clock_history_add(&control->clock_history, end, next);
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
}

void tr_clock_begin_locked_work(struct tr_thread *thread)
{
    tr_lock(&thread->process->lock);
    tr_clock_begin_work(thread);
}

void tr_clock_end_locked_work(struct tr_thread *thread)
{
    tr_unlock(&thread->process->lock);
    tr_clock_end_work(thread);
}

void tr_clock_prolong_work(struct tr_control *control)
{
    uint64_t state = atomic_load(&control->clock);
    if (tr_clock_stands(state))
        note_stolen(control, tr_rdtsc() - tr_clock_standing(state, control->options.start_tsc));
}
