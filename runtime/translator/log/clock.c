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

void tr_clock_begin_work(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    uint64_t begin = thread->hot.entered = tr_rdtsc(), start = control->options.start_tsc, next;
    thread->works = true;
    if (!thread->process->steals_time)
        return;
    uint64_t state = atomic_load(&control->clock);
    do {
        if (tr_clock_stands(state))
            state = end_long_stand(control, state, begin);
        if (tr_clock_stands(state)) {
            next = state + TR_CLOCK_WORKER;
            if (!tr_clock_stands(next)) /* more than can be counted */
                return;
        } else {
            /* The same from every thread that finds the clock running like this. */
            atomic_store(&control->stolen, state);
            next = tr_clock_stand_at(begin - state, start);
        }
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
}

void tr_clock_end_work(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    thread->works = false;
    if (!thread->process->steals_time)
        return;
    uint64_t end = tr_rdtsc(), state = atomic_load(&control->clock), next;
    do {
        if (!tr_clock_stands(state)) /* it took too long */
            return;
        next = tr_clock_workers(state) > 1
                   ? state - TR_CLOCK_WORKER
                   : end - tr_clock_standing(state, control->options.start_tsc);
    } while (!atomic_compare_exchange_weak(&control->clock, &state, next));
    if (!tr_clock_stands(next))
        tr_clock_history_add(&control->clock_history, end, next);
}
