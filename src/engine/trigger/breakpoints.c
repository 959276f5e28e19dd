#include "engine/trigger/breakpoints.h"

#include "base/memory.h"
#include "engine/watched_processes.h"
#include "perf_event/permissions.h"
#include "perf_event/processors.h"

#include <stdlib.h>
#include <string.h>

/* The hit that was found last in a ring. */
struct found_hit {
    uint32_t tid;
    bool given; /* it was no double */
    uint64_t ip, id;
};

struct breakpoints {
    struct breakpoints_options options;
    struct array processors; /* of int */
    struct record_rings rings;
    struct breakpoint_events events;
    struct watched_processes processes;
    struct array found; /* of struct found_hit, one per ring */
    struct array early; /* of struct breakpoint_hit: from while the rest was being opened */
    size_t early_given;
};

/* ---- hits ---- */

/* A thread's hits at one place all come from the same event, unless it has two there: then each hit
 * comes twice in a row in that ring, once from each event. */
static bool is_double(struct breakpoints *breakpoints, const struct sample_record *sample,
                      size_t ring)
{
    struct found_hit *last = array_at(&breakpoints->found, ring);
    bool twice =
        last->given && last->tid == sample->tid && last->ip == sample->ip && last->id != sample->id;
    if (twice)
        breakpoint_events_withdraw(&breakpoints->events, last->id, sample->id);
    *last = (struct found_hit){sample->tid, !twice, sample->ip, sample->id};
    return twice;
}

static bool take_hit(struct breakpoints *breakpoints, const struct perf_event_header *record,
                     size_t ring, struct breakpoint_hit *hit)
{
    struct sample_record sample = {0};
    size_t size = record->size - sizeof *record;
    memcpy(&sample, record + 1, size < sizeof sample ? size : sizeof sample);
    if (is_double(breakpoints, &sample, ring) || !breakpoints->processes.armed ||
        !watched_processes_watch(&breakpoints->processes, sample.pid, sample.ip))
        return false;
    *hit = (struct breakpoint_hit){
        .time = sample.time, .pid = sample.pid, .tid = sample.tid, .ip = sample.ip};
    if (sample.registers_kind != PERF_SAMPLE_REGS_ABI_NONE) {
        hit->arguments[0] = sample.rdi;
        hit->arguments[1] = sample.rsi;
    }
    return true;
}

static bool next_record_with_hit(struct breakpoints *breakpoints, struct breakpoint_hit *hit)
{
    const struct perf_event_header *record;
    struct record_origin origin;
    while ((record = record_rings_next(&breakpoints->rings, &origin)) != NULL)
        if (record->type != PERF_RECORD_SAMPLE)
            watched_processes_handle(&breakpoints->processes, record, origin.round);
        else if (take_hit(breakpoints, record, origin.ring, hit))
            return true;
    return false;
}

bool breakpoints_next(struct breakpoints *breakpoints, struct breakpoint_hit *hit)
{
    if (breakpoints->early_given < breakpoints->early.count) {
        *hit = *(struct breakpoint_hit *)array_at(&breakpoints->early, breakpoints->early_given++);
        return true;
    }
    array_free(&breakpoints->early);
    breakpoints->early_given = 0;
    return next_record_with_hit(breakpoints, hit);
}

/* ---- the whole ---- */

/* A hit takes 64 bytes, and a processor makes a few hundred thousand of them in a second. */
static uint64_t ring_size(const struct breakpoints_options *options, size_t processors)
{
    const uint64_t small = 64 << 10, large = 1 << 20, all = 64 << 20;
    if (options->ring_size)
        return options->ring_size;
    if (!event_privileged(options->kernel) && event_paranoia(options->kernel) >= 0)
        return small;
    uint64_t size = large;
    while (size > small && size * processors > all)
        size /= 2;
    return size;
}

/* Handles the records that were written while events were opened: threads may have been created. */
static void follow(struct breakpoints *breakpoints)
{
    struct breakpoint_hit hit;
    while (next_record_with_hit(breakpoints, &hit))
        array_add_all(&breakpoints->early, &hit, 1);
}

static bool open_all(struct breakpoints *breakpoints, struct error *error)
{
    const struct breakpoints_options *options = &breakpoints->options;
    if (!processors_online(&breakpoints->processors, options->kernel, error) ||
        !record_rings_open(&breakpoints->rings, options->kernel, &breakpoints->processors,
                           ring_size(options, breakpoints->processors.count), error))
        return false;
    for (size_t i = 0; i < breakpoints->processors.count; i++)
        array_add(&breakpoints->found);
    for (size_t i = 0; i < options->pid_count; i++)
        if (!watched_processes_add(&breakpoints->processes, options->pids[i], error))
            return false;
    follow(breakpoints);
    return true;
}

struct breakpoints *breakpoints_open(const struct breakpoints_options *options, struct error *error)
{
    struct breakpoints *breakpoints = memory_allocate_zeroed(sizeof *breakpoints);
    breakpoints->options = *options;
    breakpoints->processors = array_of(sizeof(int));
    breakpoints->found = array_of(sizeof(struct found_hit));
    breakpoints->early = array_of(sizeof(struct breakpoint_hit));
    breakpoints->rings.descriptor = -1;
    breakpoint_events_begin(&breakpoints->events, options->kernel, &breakpoints->rings,
                            options->trigger->name, options->scope);
    watched_processes_begin(&breakpoints->processes, &breakpoints->events, &breakpoints->rings,
                            options->trigger);
    if (open_all(breakpoints, error))
        return breakpoints;
    breakpoints_close(breakpoints);
    return NULL;
}

void breakpoints_close(struct breakpoints *breakpoints)
{
    if (!breakpoints)
        return;
    breakpoint_events_close(&breakpoints->events);
    record_rings_close(&breakpoints->rings);
    watched_processes_free(&breakpoints->processes);
    array_free(&breakpoints->found);
    array_free(&breakpoints->early);
    array_free(&breakpoints->processors);
    free(breakpoints);
}

bool breakpoints_arm(struct breakpoints *breakpoints, bool armed, struct error *error)
{
    struct watched_processes *processes = &breakpoints->processes;
    if (armed == processes->armed)
        return true;
    processes->armed = armed;
    bool ok = !armed || watched_processes_arm(processes, error);
    if (!armed || !ok) {
        processes->armed = false;
        breakpoint_events_forget_all(&breakpoints->events);
    }
    follow(breakpoints);
    return ok;
}

int breakpoints_descriptor(const struct breakpoints *breakpoints)
{
    return breakpoints->rings.descriptor;
}

size_t breakpoints_watched(const struct breakpoints *breakpoints, pid_t pid)
{
    return watched_processes_places(&breakpoints->processes, (uint32_t)pid);
}

uint64_t breakpoints_lost(const struct breakpoints *breakpoints)
{
    return breakpoints->rings.lost;
}

bool breakpoints_problem(struct breakpoints *breakpoints, struct error *problem)
{
    bool any = breakpoints->processes.problem.code != ERROR_NONE;
    *problem = breakpoints->processes.problem;
    breakpoints->processes.problem = (struct error){0};
    return any;
}
