#include "runtime/translator/clock.h"

#include "runtime/translator/system.h"

static struct tr_clock_history history;

uint64_t tr_time(struct tr_thread *thread)
{
    const struct tr_control *control = thread->process->control;
    uint64_t tsc = thread->works && thread->process->steals_time ? thread->hot.entered : tr_rdtsc();
    uint64_t now = tsc - atomic_load_explicit(&control->stolen, memory_order_relaxed);
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
    thread->hot.entered = tr_rdtsc();
    thread->works = true;
}

static void note(uint64_t tsc, uint64_t stolen)
{
    uint64_t at = atomic_fetch_add(&history.count, 1) % TR_CLOCK_HISTORY;
    /* A reader may find an entry that is being written: its time is 0 then, and it is skipped. */
    atomic_store(&history.entries[at].tsc, 0);
    atomic_store(&history.entries[at].stolen, stolen);
    atomic_store(&history.entries[at].tsc, tsc);
}

void tr_clock_end_work(struct tr_thread *thread)
{
    struct tr_control *control = thread->process->control;
    thread->works = false;
    if (!thread->process->steals_time)
        return;
    uint64_t begin = thread->hot.entered, end = tr_rdtsc();
    uint64_t until = atomic_load_explicit(&control->stolen_until, memory_order_relaxed);
    do {
        if (until >= end)
            return;
    } while (!atomic_compare_exchange_weak(&control->stolen_until, &until, end));
    uint64_t used = end - (begin > until ? begin : until);
    note(end, atomic_fetch_add(&control->stolen, used) + used);
}

uint64_t tr_clock_convert(const struct tr_process *process, uint64_t tsc)
{
    uint64_t count = atomic_load(&history.count);
    uint64_t kept = count < TR_CLOCK_HISTORY ? count : TR_CLOCK_HISTORY;
    uint64_t stolen = process->steals_time ? atomic_load(&process->control->stolen) : 0,
             limit = UINT64_MAX;
    for (uint64_t i = 1; i <= kept; i++) {
        uint64_t entry = (count - i) % TR_CLOCK_HISTORY,
                 at = atomic_load(&history.entries[entry].tsc);
        if (at == 0)
            continue;
        stolen = atomic_load(&history.entries[entry].stolen);
        if (at <= tsc)
            break;
        /* This work ended after `tsc`. The clock showed `limit` then, so it cannot have shown more before. */
        limit = at - stolen;
    }
    uint64_t time = tsc - stolen;
    return time < limit ? time : limit;
}
