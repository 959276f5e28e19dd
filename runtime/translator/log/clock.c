#include "runtime/translator/log/clock.h"

#include "runtime/translator/log/clock_history.h"
#include "runtime/translator/log/clock_state.h"
#include "runtime/translator/system.h"

enum { LONGEST_STAND = 1 }; /* milliseconds */

/* A thread that works may have been killed, or have lost its processor: after a while the clock goes on. Returns its
 * state. */
static uint64_t end_long_stand(struct tr_control *control, uint64_t state, uint64_t tsc)
{
    const struct tr_options *options = &control->options;
    uint64_t stolen = atomic_load(&control->stolen), most = options->tsc_hz / 1000 * LONGEST_STAND;
    uint64_t since = tr_clock_standing(state, options->start_tsc) + stolen;
    if ((int64_t)(tsc - since) <= (int64_t)most)
        return state;
    if (atomic_compare_exchange_strong(&control->clock, &state, stolen + most)) {
        tr_clock_history_add(&control->clock_history, since + most, stolen + most);
        return stolen + most;
    }
    return state;
}

uint64_t tr_time(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    uint64_t tsc = thread->works && thread->process->steals_time ? thread->hot.entered : tr_rdtsc();
    uint64_t state = atomic_load(&control->clock);
    if (tr_clock_stands(state))
        state = end_long_stand(control, state, tsc);
    uint64_t now = tr_clock_time(state, control->options.start_tsc, tsc);
    if (now < thread->last_time)
        now = thread->last_time;
    thread->last_time = now;
    return now;
}

uint64_t tr_clock_new_moment(struct tr_thread *thread)
{
    uint64_t now = tr_time(thread);
    if (!thread->new_code)
        now = thread->last_time = now + TR_MOMENT;
    return now;
}

/* What the clock takes off the TSC, running; it never grows less. A thread that was interrupted may come late with its `state`. */
static void note_stolen(struct tr_control *control, uint64_t state)
{
    uint64_t known = atomic_load(&control->stolen);
    while (known < state && !atomic_compare_exchange_weak(&control->stolen, &known, state))
        ;
}

/* The TSC is read after the state: when the state is still the same at the exchange, nobody has worked in between, however
 * long this thread was off its processor. A TSC from before, with what others have used up since then taken off, would be a time
 * long ago, even before the recording. */
void tr_clock_begin_work(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    uint64_t state = atomic_load(&control->clock), start = control->options.start_tsc, next;
    thread->hot.entered = tr_rdtsc();
    thread->works = true;
    if (!thread->process->steals_time)
        return;
    do {
        uint64_t begin = thread->hot.entered = tr_rdtsc();
        if (tr_clock_stands(state))
            state = end_long_stand(control, state, begin);
        if (tr_clock_stands(state)) {
            next = state + TR_CLOCK_WORKER;
            if (!tr_clock_stands(next)) /* more than can be counted */
                return;
        } else {
            note_stolen(control, state);
            next = tr_clock_stand_at(begin - state, start);
        }
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
}

/* What a clock that stands in `state` takes off the TSC when it runs again at `end`: no less than before, also where the
 * processors' counters differ. */
static uint64_t stolen_at(const struct tr_control *control, uint64_t state, uint64_t end)
{
    uint64_t before = atomic_load(&control->stolen);
    uint64_t after = end - tr_clock_standing(state, control->options.start_tsc);
    return (int64_t)(after - before) < 0 ? before : after;
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
        next =
            tr_clock_workers(state) > 1 ? state - TR_CLOCK_WORKER : stolen_at(control, state, end);
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
    if (!tr_clock_stands(next))
        tr_clock_history_add(&control->clock_history, end, next);
}
