#include "engine/perf_event/breakpoints.h"

#include "base/memory.h"
#include "engine/perf_event/permissions.h"
#include "engine/perf_event/processors.h"
#include "engine/perf_event/watched_threads.h"
#include "engine/trigger_addresses.h"

#include <stdlib.h>
#include <string.h>

struct watched_process {
    uint32_t pid;           /* first: the key */
    uint32_t parent;        /* whose breakpoints it has inherited; 0: it has its own */
    struct array addresses; /* of uint64_t */
};

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
    struct watched_threads threads;
    struct array processes; /* of struct watched_process, by pid */
    struct array found;     /* of struct found_hit, one per ring */
    struct array early;     /* of struct breakpoint_hit: from while the rest was being opened */
    size_t early_given;
    bool armed;
    struct error problem; /* code ERROR_NONE: none */
};

/* ---- what is known ---- */

static struct watched_process *find(const struct breakpoints *breakpoints, uint32_t pid)
{
    size_t index = array_find_key(&breakpoints->processes, pid);
    struct watched_process *process = array_at(&breakpoints->processes, index);
    return index < breakpoints->processes.count && process->pid == pid ? process : NULL;
}

static struct watched_process *add_process(struct breakpoints *breakpoints, uint32_t pid)
{
    struct watched_process *process = find(breakpoints, pid);
    if (process) {
        process->addresses.count = 0;
        return process;
    }
    process = array_insert(&breakpoints->processes, array_find_key(&breakpoints->processes, pid));
    *process = (struct watched_process){.pid = pid, .addresses = array_of(sizeof(uint64_t))};
    return process;
}

static bool has_address(const struct array *addresses, uint64_t address)
{
    for (size_t i = 0; i < addresses->count; i++)
        if (*(uint64_t *)array_at(addresses, i) == address)
            return true;
    return false;
}

static struct process_wish wish_of(const struct watched_process *process)
{
    return (struct process_wish){.pid = process->pid,
                                 .addresses = process->addresses.elements,
                                 .count = process->addresses.count};
}

/* ---- where the places are ---- */

static bool too_many(const struct breakpoints *breakpoints, uint32_t pid, size_t count,
                     struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "%s is at %zu places in process %u, and the processor can watch %d. Name one "
                     "of them: -trigger FILE:LINE:COLUMN, or addr:0x....",
                     breakpoints->options.trigger->name, count, pid, BREAKPOINT_REGISTERS);
}

static bool find_addresses(const struct breakpoints *breakpoints, uint32_t pid,
                           struct array *addresses)
{
    return trigger_addresses(addresses, breakpoints->options.trigger,
                             breakpoints->options.kernel->proc, (pid_t)pid);
}

static bool has_heirs(const struct breakpoints *breakpoints, uint32_t pid)
{
    for (size_t i = 0; i < breakpoints->processes.count; i++)
        if (((struct watched_process *)array_at(&breakpoints->processes, i))->parent == pid)
            return true;
    return false;
}

/* Closes what is watched where the places are no longer, unless child processes have inherited it,
 * which would lose it. */
static void forget_old_places(struct breakpoints *breakpoints, struct watched_process *process,
                              const struct array *addresses)
{
    uint64_t *watched = process->addresses.elements;
    size_t kept = 0;
    if (has_heirs(breakpoints, process->pid))
        return;
    for (size_t i = 0; i < process->addresses.count; i++)
        if (has_address(addresses, watched[i]))
            watched[kept++] = watched[i];
        else
            breakpoint_events_forget(&breakpoints->events, process->pid, watched[i]);
    process->addresses.count = kept;
}

/* The process has mapped something. */
static bool watch_new_places(struct breakpoints *breakpoints, struct watched_process *process,
                             struct error *error)
{
    struct array addresses = array_of(sizeof(uint64_t));
    if (!find_addresses(breakpoints, process->pid, &addresses))
        return true; /* it has ended */
    forget_old_places(breakpoints, process, &addresses);
    size_t watched = process->addresses.count;
    for (size_t i = 0; i < addresses.count; i++) {
        uint64_t *address = array_at(&addresses, i);
        if (!has_address(&process->addresses, *address))
            array_add_all(&process->addresses, address, 1);
    }
    array_free(&addresses);
    size_t count = process->addresses.count;
    if (count == watched)
        return true;
    if (count > BREAKPOINT_REGISTERS) {
        process->addresses.count = watched;
        return too_many(breakpoints, process->pid, count, error);
    }
    if (!breakpoints->armed)
        return true;
    struct process_wish wish = wish_of(process);
    wish.watched = watched;
    return watched_threads_open(&breakpoints->threads, &wish, error);
}

/* ---- following the processes ---- */

static void note_problem(struct breakpoints *breakpoints, const struct error *problem)
{
    if (breakpoints->problem.code == ERROR_NONE)
        breakpoints->problem = *problem;
}

static void process_born(struct breakpoints *breakpoints, const struct birth_record *birth)
{
    struct watched_process *parent = find(breakpoints, birth->parent_pid);
    if (!parent || breakpoints->options.scope != BREAKPOINTS_CHILDREN)
        return;
    struct array addresses = array_of(sizeof(uint64_t));
    array_add_all(&addresses, parent->addresses.elements, parent->addresses.count);
    struct watched_process *child = add_process(breakpoints, birth->pid);
    array_free(&child->addresses);
    child->addresses = addresses;
    child->parent = birth->parent_pid;
}

static void born(struct breakpoints *breakpoints, const struct perf_event_header *record,
                 uint64_t round)
{
    const struct birth_record *told = body_of(record, sizeof *told);
    if (!told)
        return;
    struct birth_record birth = *told;
    if (birth.pid != birth.parent_pid)
        process_born(breakpoints, &birth);
    const struct watched_process *process = find(breakpoints, birth.pid);
    if (!process || !breakpoints->armed)
        return;
    struct process_wish wish = wish_of(process);
    struct error problem = {0};
    if (!watched_threads_born(&breakpoints->threads, &wish, &birth, round, &problem))
        note_problem(breakpoints, &problem);
}

static void ended(struct breakpoints *breakpoints, const struct perf_event_header *record)
{
    const struct birth_record *end = body_of(record, sizeof *end);
    if (end)
        watched_threads_ended(&breakpoints->threads, end->tid);
}

/* Another program runs in the process. The kernel has removed its breakpoints (in Linux before 5.13
 * they stay, at places that mean nothing now), but keeps their registers until they are closed.
 * Closing takes them from those who have inherited them, too. */
static void replaced(struct breakpoints *breakpoints, const struct perf_event_header *record)
{
    const struct named_record *name = body_of(record, sizeof *name);
    struct watched_process *process =
        name && record->misc & PERF_RECORD_MISC_COMM_EXEC ? find(breakpoints, name->pid) : NULL;
    if (!process)
        return;
    struct array none = array_of(sizeof(uint64_t));
    forget_old_places(breakpoints, process, &none);
    process->addresses.count = 0;
    process->parent = 0;
}

/* Whether a mapping changes where the places are: it holds some, or lies over some. */
static bool concerns(const struct breakpoints *breakpoints, const struct watched_process *process,
                     const struct mapping_record *mapping, const char *path)
{
    for (size_t i = 0; i < process->addresses.count; i++)
        if (*(uint64_t *)array_at(&process->addresses, i) - mapping->start < mapping->length)
            return true;
    return trigger_is_in_file(breakpoints->options.trigger, path);
}

static void mapped(struct breakpoints *breakpoints, const struct perf_event_header *record)
{
    const struct mapping_record *mapping = body_of(record, sizeof *mapping);
    const char *path = (const char *)(mapping + 1);
    struct watched_process *process = mapping ? find(breakpoints, mapping->named.pid) : NULL;
    struct error problem = {0};
    if (process && memchr(path, 0, record->size - sizeof *record - sizeof *mapping) &&
        concerns(breakpoints, process, mapping, path) &&
        !watch_new_places(breakpoints, process, &problem))
        note_problem(breakpoints, &problem);
}

/* ---- hits ---- */

/* A thread's hits at one place all come from the same event, unless it has two there: then each
 * hit comes twice, from one and from the other, and nothing lies between in that ring. */
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
    const struct watched_process *process = find(breakpoints, sample.pid);
    if (is_double(breakpoints, &sample, ring) || !breakpoints->armed || !process ||
        !has_address(&process->addresses, sample.ip))
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
    while ((record = record_rings_next(&breakpoints->rings, &origin)) != NULL) {
        switch (record->type) {
        case PERF_RECORD_SAMPLE:
            if (take_hit(breakpoints, record, origin.ring, hit))
                return true;
            break;
        case PERF_RECORD_FORK:
            born(breakpoints, record, origin.round);
            break;
        case PERF_RECORD_EXIT:
            ended(breakpoints, record);
            break;
        case PERF_RECORD_COMM:
            replaced(breakpoints, record);
            break;
        case PERF_RECORD_MMAP2:
            mapped(breakpoints, record);
            break;
        default:
            break;
        }
    }
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

static bool watch_process(struct breakpoints *breakpoints, pid_t pid, struct error *error)
{
    struct watched_process *process = add_process(breakpoints, (uint32_t)pid);
    bool readable = find_addresses(breakpoints, process->pid, &process->addresses);
    if (process->addresses.count > BREAKPOINT_REGISTERS)
        return too_many(breakpoints, process->pid, process->addresses.count, error);
    size_t before = breakpoints->events.events.count;
    struct process_wish wish = wish_of(process);
    wish.listen = true;
    if (!watched_threads_open(&breakpoints->threads, &wish, error))
        return false;
    if (breakpoints->events.events.count == before)
        return error_set(error, ERROR_NOT_FOUND, "cannot watch process %d: it has ended.",
                         (int)pid);
    return readable ||
           error_set(error, ERROR_UNSUPPORTED,
                     "cannot watch process %d: where it has mapped its files is not for this user "
                     "to read (/proc/%d/maps). Run magic-trace as root, or give it the privilege "
                     "cap_sys_ptrace too.",
                     (int)pid, (int)pid);
}

/* What has happened while the threads were opened: some may have been born. */
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
        if (!watch_process(breakpoints, options->pids[i], error))
            return false;
    follow(breakpoints);
    return true;
}

struct breakpoints *breakpoints_open(const struct breakpoints_options *options, struct error *error)
{
    struct breakpoints *breakpoints = memory_allocate_zeroed(sizeof *breakpoints);
    breakpoints->options = *options;
    breakpoints->processors = array_of(sizeof(int));
    breakpoints->processes = array_of(sizeof(struct watched_process));
    breakpoints->found = array_of(sizeof(struct found_hit));
    breakpoints->early = array_of(sizeof(struct breakpoint_hit));
    breakpoints->armed = true;
    breakpoints->rings.descriptor = -1;
    breakpoint_events_begin(&breakpoints->events, options->kernel, &breakpoints->rings,
                            options->trigger->name, options->scope);
    watched_threads_begin(&breakpoints->threads, &breakpoints->events, &breakpoints->rings);
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
    for (size_t i = 0; i < breakpoints->processes.count; i++)
        array_free(&((struct watched_process *)array_at(&breakpoints->processes, i))->addresses);
    array_free(&breakpoints->processes);
    watched_threads_free(&breakpoints->threads);
    array_free(&breakpoints->found);
    array_free(&breakpoints->early);
    array_free(&breakpoints->processors);
    free(breakpoints);
}

static bool watch_again(struct breakpoints *breakpoints, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < breakpoints->processes.count; i++) {
        struct watched_process *process = array_at(&breakpoints->processes, i);
        struct process_wish wish = wish_of(process);
        process->parent = 0;
        ok = watched_threads_open(&breakpoints->threads, &wish, error);
    }
    return ok;
}

bool breakpoints_arm(struct breakpoints *breakpoints, bool armed, struct error *error)
{
    if (armed == breakpoints->armed)
        return true;
    breakpoints->armed = armed;
    bool ok = !armed || watch_again(breakpoints, error);
    if (!armed || !ok) {
        breakpoints->armed = false;
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
    const struct watched_process *process = find(breakpoints, (uint32_t)pid);
    return process ? process->addresses.count : 0;
}

uint64_t breakpoints_lost(const struct breakpoints *breakpoints)
{
    return breakpoints->rings.lost;
}

bool breakpoints_problem(struct breakpoints *breakpoints, struct error *problem)
{
    bool any = breakpoints->problem.code != ERROR_NONE;
    *problem = breakpoints->problem;
    breakpoints->problem = (struct error){0};
    return any;
}
