#include "engine/translator/transcode/off_cpu.h"

#include "base/memory.h"
#include "base/tsc.h"
#include "engine/translator/transcode/off_cpu_file.h"
#include "perf_event/context_switches.h"
#include "runtime/translator/log/clock_history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uthash.h>

enum {
    NANOSECONDS = 1000000000,
    /* The kernel takes a record's time before others can see it: this much later it is there. */
    WRITING_NS = 50 * 1000,
    /* The kernel's clock and the time-stamp counter are related by measurement. */
    TOLERANCE_NS = 20 * 1000,
    MOST_PERIODS = 1 << 20, /* that wait to be asked for */
    COMPACTED = 1 << 10,    /* periods that were asked for, at least */
};

struct period {
    uint64_t out, in;
    uint32_t out_cpu, in_cpu;
    bool preempted;
};

struct off_thread {
    uint32_t tid;
    bool out; /* it is off its processor, since `period.out` */
    struct period period;
    uint64_t latest;      /* ticks, of its newest record */
    struct array periods; /* of struct period */
    size_t next;          /* the first of them that may be asked for */
    uint64_t asked_until; /* ticks */
    uint64_t dropped;
    bool recorded; /* it was asked for */
    UT_hash_handle hh;
};

struct off_cpu {
    const struct translator_arena *arena;
    pthread_mutex_t lock;
    struct context_switches switches;
    bool refused;
    struct array waiting; /* of struct context_switch: those before may still come */
    struct tsc_anchor before, now;
    /* Ticks. All before is known: while the clock stands still, more may come at that very time. */
    uint64_t known_until;
    uint64_t waited_for; /* ticks: what was not known then has been waited for */
    struct off_thread *threads;
    size_t period_count; /* of all threads */
    struct off_cpu_log kept;
    struct off_cpu_file file;
    uint64_t
        lost; /* records that were read too late, and periods of a recording that is salvaged */
};

static struct off_cpu *new_off_cpu(const struct translator_arena *arena, const char *folder)
{
    struct off_cpu *off_cpu = memory_allocate_zeroed(sizeof *off_cpu);
    const struct tr_options *options = &arena->options;
    off_cpu->arena = arena;
    off_cpu->file.descriptor = -1;
    pthread_mutex_init(&off_cpu->lock, NULL);
    off_cpu->waiting = array_of(sizeof(struct context_switch));
    off_cpu->before = off_cpu->now = (struct tsc_anchor){
        options->start_tsc, options->start_monotonic_ns, options->start_realtime_ns};
    off_cpu_log_begin(&off_cpu->kept, options->full_execution ? folder : NULL);
    return off_cpu;
}

struct off_cpu *off_cpu_open(const struct translator_arena *arena, const char *folder,
                             const struct kernel *kernel, struct error *error)
{
    struct off_cpu *off_cpu = new_off_cpu(arena, folder);
    if (context_switches_begin(&off_cpu->switches, kernel, error)) {
        off_cpu->file = off_cpu_file_create(folder);
        return off_cpu;
    }
    off_cpu_close(off_cpu);
    return NULL;
}

static void free_threads(struct off_cpu *off_cpu)
{
    struct off_thread *thread, *next;
    HASH_ITER(hh, off_cpu->threads, thread, next)
    {
        HASH_DEL(off_cpu->threads, thread);
        array_free(&thread->periods);
        free(thread);
    }
}

void off_cpu_close(struct off_cpu *off_cpu)
{
    if (!off_cpu)
        return;
    context_switches_close(&off_cpu->switches);
    free_threads(off_cpu);
    array_free(&off_cpu->waiting);
    off_cpu_log_free(&off_cpu->kept);
    off_cpu_file_close(&off_cpu->file);
    pthread_mutex_destroy(&off_cpu->lock);
    free(off_cpu);
}

bool off_cpu_watch(struct off_cpu *off_cpu, uint32_t pid, struct error *error)
{
    pthread_mutex_lock(&off_cpu->lock);
    bool ok = !off_cpu->refused && context_switches_watch_process(&off_cpu->switches, pid, error);
    off_cpu->refused |= !ok;
    pthread_mutex_unlock(&off_cpu->lock);
    return ok;
}

/* ---- records -> periods ---- */

static uint64_t ticks_of_nanoseconds(const struct off_cpu *off_cpu, uint64_t nanoseconds)
{
    return (uint64_t)((unsigned __int128)nanoseconds * off_cpu->arena->options.tsc_hz /
                      NANOSECONDS);
}

/* From CLOCK_MONOTONIC to the recording's clock, between the last two instants at which both were
 * read: the kernel adjusts the rate of its clock all the time. */
static uint64_t recorded_time(const struct off_cpu *off_cpu, struct tr_past_clock *clock,
                              uint64_t nanoseconds)
{
    const struct tsc_anchor *before = &off_cpu->before, *now = &off_cpu->now;
    uint64_t elapsed = now->monotonic_ns - before->monotonic_ns;
    __int128 since = (__int128)nanoseconds - (__int128)before->monotonic_ns;
    __int128 ticks = elapsed ? since * (__int128)(now->tsc - before->tsc) / (__int128)elapsed : 0;
    return tr_past_clock_time(clock, before->tsc + (uint64_t)ticks);
}

static struct off_thread *find_thread(const struct off_cpu *off_cpu, uint32_t tid)
{
    struct off_thread *thread;
    HASH_FIND(hh, off_cpu->threads, &tid, sizeof tid, thread);
    return thread;
}

static struct off_thread *get_thread(struct off_cpu *off_cpu, uint32_t tid)
{
    struct off_thread *thread = find_thread(off_cpu, tid);
    if (thread)
        return thread;
    thread = memory_allocate_zeroed(sizeof *thread);
    thread->tid = tid;
    thread->periods = array_of(sizeof(struct period));
    HASH_ADD(hh, off_cpu->threads, tid, sizeof thread->tid, thread);
    return thread;
}

static void drop_first(struct off_cpu *off_cpu, struct off_thread *thread, size_t count)
{
    struct array *periods = &thread->periods;
    memmove(periods->elements, array_at(periods, count),
            (periods->count - count) * periods->element_size);
    periods->count -= count;
    thread->next = thread->next > count ? thread->next - count : 0;
    off_cpu->period_count -= count;
}

/* The thread that has the most loses half of them. */
static void make_room(struct off_cpu *off_cpu)
{
    struct off_thread *most = off_cpu->threads;
    for (struct off_thread *thread = most; thread; thread = thread->hh.next)
        if (thread->periods.count > most->periods.count)
            most = thread;
    size_t half = (most->periods.count + 1) / 2;
    most->dropped += half;
    drop_first(off_cpu, most, half);
}

static void add_period(struct off_cpu *off_cpu, struct off_thread *thread,
                       const struct period *period)
{
    if (off_cpu->period_count == MOST_PERIODS)
        make_room(off_cpu);
    array_add_all(&thread->periods, period, 1);
    off_cpu->period_count++;
}

static void store(struct off_cpu *off_cpu, uint32_t tid, const struct period *period)
{
    off_cpu_file_add(&off_cpu->file, &(struct off_cpu_period){
                                         .out = period->out,
                                         .in = period->in,
                                         .tid = tid,
                                         .out_cpu = period->out_cpu,
                                         .in_cpu = period->in_cpu,
                                         .preempted = period->preempted,
                                     });
}

/* A record that is older than one that has come, or that is the second of its kind, shows that some
 * are missing. */
static void take(struct off_cpu *off_cpu, const struct context_switch *record, uint64_t time)
{
    if (record->tid == UINT32_MAX) /* of a thread that ends */
        return;
    struct off_thread *thread = get_thread(off_cpu, record->tid);
    if (time < thread->latest)
        return;
    thread->latest = time;
    if (record->out) {
        thread->period =
            (struct period){.out = time, .out_cpu = record->cpu, .preempted = record->preempted};
    } else if (thread->out && time > thread->period.out) {
        thread->period.in = time;
        thread->period.in_cpu = record->cpu;
        add_period(off_cpu, thread, &thread->period);
        store(off_cpu, thread->tid, &thread->period);
    }
    thread->out = record->out;
}

static void add_waiting(void *context, const struct context_switch *record)
{
    struct off_cpu *off_cpu = context;
    array_add_all(&off_cpu->waiting, record, 1);
}

/* At the same time off first. */
static int by_time(const void *left, const void *right)
{
    const struct context_switch *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (int)b->out - (int)a->out;
}

/* Sorted, and how many are not later. */
static size_t count_until(struct array *waiting, uint64_t nanoseconds)
{
    size_t count = 0;
    if (waiting->count > 1)
        qsort(waiting->elements, waiting->count, waiting->element_size, by_time);
    while (count < waiting->count &&
           ((const struct context_switch *)array_at(waiting, count))->time <= nanoseconds)
        count++;
    return count;
}

/* What another processor wrote before that moment has been read. `clock` has come back to it. */
static void take_all_until(struct off_cpu *off_cpu, struct tr_past_clock *clock,
                           uint64_t nanoseconds)
{
    struct array *waiting = &off_cpu->waiting;
    size_t count = count_until(waiting, nanoseconds);
    uint64_t *times = memory_allocate(count * sizeof *times + 1);
    size_t first = count; /* of those whose time is known */
    while (first > 0) {
        const struct context_switch *record = array_at(waiting, first - 1);
        times[first - 1] = recorded_time(off_cpu, clock, record->time);
        if (clock->ends)
            break;
        first--;
    }
    off_cpu->lost += first;
    for (size_t i = first; i < count; i++)
        take(off_cpu, array_at(waiting, i), times[i]);
    free(times);
    if (count > 0)
        memmove(waiting->elements, array_at(waiting, count),
                (waiting->count - count) * waiting->element_size);
    waiting->count -= count;
}

static void advance_clock(struct off_cpu *off_cpu)
{
    enum { FAR_ENOUGH_NS = 1000 * 1000 };
    if (off_cpu->now.monotonic_ns - off_cpu->before.monotonic_ns >= FAR_ENOUGH_NS)
        off_cpu->before = off_cpu->now;
    off_cpu->now = tsc_anchor_now();
}

static void read_records(struct off_cpu *off_cpu)
{
    advance_clock(off_cpu);
    uint64_t until = off_cpu->now.monotonic_ns - WRITING_NS;
    struct tr_past_clock clock = tr_past_clock_begin(off_cpu->arena->control);
    uint64_t known = recorded_time(off_cpu, &clock, until);
    context_switches_read(&off_cpu->switches, add_waiting, off_cpu);
    take_all_until(off_cpu, &clock, until);
    off_cpu_file_publish(&off_cpu->file);
    if (known > off_cpu->known_until)
        off_cpu->known_until = known;
}

void off_cpu_wait(const struct off_cpu *off_cpu, unsigned milliseconds)
{
    context_switches_wait(&off_cpu->switches, milliseconds);
}

void off_cpu_read(struct off_cpu *off_cpu)
{
    pthread_mutex_lock(&off_cpu->lock);
    if (!off_cpu->refused && off_cpu->known_until != UINT64_MAX)
        read_records(off_cpu);
    pthread_mutex_unlock(&off_cpu->lock);
}

/* ---- what a killed magic-trace has left ---- */

static void take_left(struct off_cpu *off_cpu, const struct off_cpu_period *left)
{
    struct off_thread *thread = get_thread(off_cpu, left->tid);
    if (left->out >= left->in || left->out < thread->latest)
        return;
    thread->latest = left->in;
    add_period(off_cpu, thread,
               &(struct period){left->out, left->in, left->out_cpu, left->in_cpu, left->preempted});
}

struct off_cpu *off_cpu_salvage(const struct translator_arena *arena, const char *folder)
{
    struct array periods = array_of(sizeof(struct off_cpu_period));
    struct off_cpu *off_cpu = NULL;
    uint64_t lost;
    if (off_cpu_file_read(folder, &periods, &lost)) {
        off_cpu = new_off_cpu(arena, folder);
        off_cpu->known_until = UINT64_MAX;
        off_cpu->lost = lost;
        for (size_t i = 0; i < periods.count; i++)
            take_left(off_cpu, array_at(&periods, i));
    }
    array_free(&periods);
    return off_cpu;
}

/* ---- periods, asked for ---- */

/* All that happened until then is known. Where the recording's clock stands still, what is missing is waited for once; later
 * only for what has just been written. */
static void know_until(struct off_cpu *off_cpu, uint64_t time)
{
    enum { ROUNDS = 8, ROUNDS_AGAIN = 2 };
    const struct timespec pause = {.tv_nsec = WRITING_NS};
    unsigned rounds = off_cpu->waited_for == time ? ROUNDS_AGAIN : ROUNDS;
    for (unsigned i = 0; i < rounds && off_cpu->known_until <= time; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        read_records(off_cpu);
    }
    off_cpu->waited_for = time;
}

/* The thread's next period that ends after `time`; NULL: none. */
static const struct period *next_after(struct off_cpu *off_cpu, struct off_thread *thread,
                                       uint64_t time)
{
    const struct array *periods = &thread->periods;
    while (thread->next < periods->count &&
           ((const struct period *)array_at(periods, thread->next))->in <= time)
        thread->next++;
    if (thread->next >= COMPACTED && thread->next >= periods->count / 2)
        drop_first(off_cpu, thread, thread->next);
    return thread->next < periods->count ? array_at(periods, thread->next) : NULL;
}

static bool find_within(struct off_cpu *off_cpu, struct off_thread *thread, uint64_t from,
                        uint64_t until, struct off_cpu_period *found)
{
    uint64_t tolerance = ticks_of_nanoseconds(off_cpu, TOLERANCE_NS);
    const struct period *period;
    while ((period = next_after(off_cpu, thread, from)) && period->out < until) {
        bool certain = period->out + tolerance >= from && period->in <= until + tolerance;
        *found = (struct off_cpu_period){
            .out = period->out > from ? period->out : from,
            .in = period->in < until ? period->in : until,
            .tid = thread->tid,
            .out_cpu = period->out_cpu,
            .in_cpu = period->in_cpu,
            .preempted = period->preempted,
        };
        if (certain && found->out < found->in)
            return true;
        thread->next++;
    }
    return false;
}

bool off_cpu_is_known(const struct off_cpu *off_cpu)
{
    return !off_cpu->refused && !atomic_load(&off_cpu->arena->control->has_namespaces);
}

bool off_cpu_next(struct off_cpu *off_cpu, uint32_t tid, uint64_t from, uint64_t until,
                  struct off_cpu_period *period)
{
    pthread_mutex_lock(&off_cpu->lock);
    bool found = false;
    if (off_cpu_is_known(off_cpu)) {
        know_until(off_cpu, until);
        struct off_thread *thread = find_thread(off_cpu, tid);
        if (thread) {
            thread->recorded = true;
            thread->asked_until = until;
        }
        found = thread && find_within(off_cpu, thread, from, until, period);
    }
    pthread_mutex_unlock(&off_cpu->lock);
    return found;
}

void off_cpu_keep(struct off_cpu *off_cpu, const struct off_cpu_period *period)
{
    off_cpu_log_add(&off_cpu->kept, period);
}

/* Until when the thread is known to have been off its processor, or `from`. */
static uint64_t keep_all(struct off_cpu *off_cpu, uint32_t pid, uint32_t tid, uint64_t from,
                         uint64_t until)
{
    struct off_cpu_period period;
    while (off_cpu_next(off_cpu, tid, from, until, &period)) {
        period.pid = pid;
        off_cpu_keep(off_cpu, &period);
        from = period.in;
    }
    return from;
}

void off_cpu_keep_exec(struct off_cpu *off_cpu, uint32_t pid, uint32_t tid, uint64_t until)
{
    pthread_mutex_lock(&off_cpu->lock);
    const struct off_thread *thread = find_thread(off_cpu, tid);
    uint64_t from = thread ? thread->asked_until : 0;
    pthread_mutex_unlock(&off_cpu->lock);
    if (from > 0 && from < until)
        keep_all(off_cpu, pid, tid, from, until);
}

void off_cpu_keep_rest(struct off_cpu *off_cpu, uint32_t pid, uint32_t tid, uint64_t from,
                       uint64_t until)
{
    struct off_cpu_period period;
    from = keep_all(off_cpu, pid, tid, from, until);
    pthread_mutex_lock(&off_cpu->lock);
    const struct off_thread *thread = off_cpu->refused ? NULL : find_thread(off_cpu, tid);
    bool is_out = thread && thread->out && thread->period.out < until;
    if (is_out)
        period = (struct off_cpu_period){
            .out = thread->period.out > from ? thread->period.out : from,
            .in = until,
            .pid = pid,
            .tid = tid,
            .out_cpu = thread->period.out_cpu,
            .in_cpu = thread->period.out_cpu,
            .preempted = thread->period.preempted,
        };
    pthread_mutex_unlock(&off_cpu->lock);
    if (is_out)
        off_cpu_keep(off_cpu, &period);
}

struct off_cpu_log *off_cpu_kept(struct off_cpu *off_cpu)
{
    return &off_cpu->kept;
}

uint64_t off_cpu_lost(const struct off_cpu *off_cpu)
{
    uint64_t lost = off_cpu->switches.lost + off_cpu->kept.dropped + off_cpu->lost;
    for (const struct off_thread *thread = off_cpu->threads; thread; thread = thread->hh.next)
        lost += thread->recorded ? thread->dropped : 0;
    return lost;
}
