#include "engine/watched_processes.h"

#include "engine/trigger/trigger_addresses.h"
#include "recording/flags.h"

#include <string.h>

struct watched_process {
    uint32_t pid;           /* first: the key */
    uint32_t parent;        /* whose breakpoints it has inherited; 0: it has its own */
    struct array addresses; /* of uint64_t */
};

void watched_processes_begin(struct watched_processes *processes, struct breakpoint_events *events,
                             struct record_rings *rings, const struct trigger *trigger)
{
    *processes = (struct watched_processes){
        .events = events,
        .trigger = trigger,
        .processes = array_of(sizeof(struct watched_process)),
        .armed = true,
    };
    watched_threads_begin(&processes->threads, events, rings);
}

void watched_processes_free(struct watched_processes *processes)
{
    for (size_t i = 0; i < processes->processes.count; i++)
        array_free(&((struct watched_process *)array_at(&processes->processes, i))->addresses);
    array_free(&processes->processes);
    watched_threads_free(&processes->threads);
}

/* ---- what is known ---- */

static struct watched_process *find(const struct watched_processes *processes, uint32_t pid)
{
    size_t index = array_find_key(&processes->processes, pid);
    struct watched_process *process = array_at(&processes->processes, index);
    return index < processes->processes.count && process->pid == pid ? process : NULL;
}

static struct watched_process *add_process(struct watched_processes *processes, uint32_t pid)
{
    struct watched_process *process = find(processes, pid);
    if (process) {
        process->addresses.count = 0;
        return process;
    }
    process = array_insert(&processes->processes, array_find_key(&processes->processes, pid));
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

static struct process_request request_of(const struct watched_process *process)
{
    return (struct process_request){.pid = process->pid,
                                    .addresses = process->addresses.elements,
                                    .count = process->addresses.count};
}

size_t watched_processes_places(const struct watched_processes *processes, uint32_t pid)
{
    const struct watched_process *process = find(processes, pid);
    return process ? process->addresses.count : 0;
}

bool watched_processes_watch(const struct watched_processes *processes, uint32_t pid,
                             uint64_t address)
{
    const struct watched_process *process = find(processes, pid);
    return process && has_address(&process->addresses, address);
}

/* ---- where the places are ---- */

static bool too_many(const struct watched_processes *processes, uint32_t pid, size_t count,
                     struct error *error)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "%s is at %zu places in process %u, and the processor can watch %d. Name one "
                     "of them: " FLAG_TRIGGER " FILE:LINE:COLUMN, or addr:0x....",
                     processes->trigger->name, count, pid, BREAKPOINT_REGISTERS);
}

static bool find_addresses(const struct watched_processes *processes, uint32_t pid,
                           struct array *addresses)
{
    return trigger_addresses(addresses, processes->trigger, processes->events->kernel->proc,
                             (pid_t)pid);
}

static bool has_heirs(const struct watched_processes *processes, uint32_t pid)
{
    for (size_t i = 0; i < processes->processes.count; i++)
        if (((struct watched_process *)array_at(&processes->processes, i))->parent == pid)
            return true;
    return false;
}

/* Closes what is watched where the places are no longer, unless child processes have inherited it,
 * which would lose it. */
static void forget_old_places(struct watched_processes *processes, struct watched_process *process,
                              const struct array *addresses)
{
    uint64_t *watched = process->addresses.elements;
    size_t kept = 0;
    if (has_heirs(processes, process->pid))
        return;
    for (size_t i = 0; i < process->addresses.count; i++)
        if (has_address(addresses, watched[i]))
            watched[kept++] = watched[i];
        else
            breakpoint_events_forget(processes->events, process->pid, watched[i]);
    process->addresses.count = kept;
}

/* Handles a new mapping of the process. */
static bool watch_new_places(struct watched_processes *processes, struct watched_process *process,
                             struct error *error)
{
    struct array addresses = array_of(sizeof(uint64_t));
    if (!find_addresses(processes, process->pid, &addresses))
        return true; /* it has ended */
    forget_old_places(processes, process, &addresses);
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
        return too_many(processes, process->pid, count, error);
    }
    if (!processes->armed)
        return true;
    struct process_request request = request_of(process);
    request.watched = watched;
    return watched_threads_open(&processes->threads, &request, error);
}

/* ---- all of them ---- */

bool watched_processes_add(struct watched_processes *processes, pid_t pid, struct error *error)
{
    struct watched_process *process = add_process(processes, (uint32_t)pid);
    bool readable = find_addresses(processes, process->pid, &process->addresses);
    if (process->addresses.count > BREAKPOINT_REGISTERS)
        return too_many(processes, process->pid, process->addresses.count, error);
    size_t before = processes->events->events.count;
    struct process_request request = request_of(process);
    request.listen = true;
    if (!watched_threads_open(&processes->threads, &request, error))
        return false;
    if (processes->events->events.count == before)
        return error_set(error, ERROR_NOT_FOUND, "cannot watch process %d: it has ended.",
                         (int)pid);
    return readable ||
           error_set(error, ERROR_UNSUPPORTED,
                     "cannot watch process %d: where it has mapped its files is not for this user "
                     "to read (/proc/%d/maps). Run magic-trace as root, or give it the privilege "
                     "cap_sys_ptrace too.",
                     (int)pid, (int)pid);
}

bool watched_processes_arm(struct watched_processes *processes, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < processes->processes.count; i++) {
        struct watched_process *process = array_at(&processes->processes, i);
        struct process_request request = request_of(process);
        process->parent = 0;
        ok = watched_threads_open(&processes->threads, &request, error);
    }
    return ok;
}

/* ---- following the processes ---- */

static void note_problem(struct watched_processes *processes, const struct error *problem)
{
    if (processes->problem.code == ERROR_NONE)
        processes->problem = *problem;
}

static void process_created(struct watched_processes *processes, const struct birth_record *birth)
{
    struct watched_process *parent = find(processes, birth->parent_pid);
    if (!parent || processes->events->scope != BREAKPOINTS_CHILDREN)
        return;
    struct array addresses = array_of(sizeof(uint64_t));
    array_add_all(&addresses, parent->addresses.elements, parent->addresses.count);
    struct watched_process *child = add_process(processes, birth->pid);
    array_free(&child->addresses);
    child->addresses = addresses;
    child->parent = birth->parent_pid;
}

static void created(struct watched_processes *processes, const struct perf_event_header *record,
                    uint64_t round)
{
    const struct birth_record *reported = body_of(record, sizeof *reported);
    if (!reported)
        return;
    struct birth_record birth = *reported;
    if (birth.pid != birth.parent_pid)
        process_created(processes, &birth);
    const struct watched_process *process = find(processes, birth.pid);
    if (!process || !processes->armed)
        return;
    struct process_request request = request_of(process);
    struct error problem = {0};
    if (!watched_threads_created(&processes->threads, &request, &birth, round, &problem))
        note_problem(processes, &problem);
}

static void ended(struct watched_processes *processes, const struct perf_event_header *record)
{
    const struct birth_record *end = body_of(record, sizeof *end);
    if (end)
        watched_threads_ended(&processes->threads, end->tid);
}

/* Handles an exec. The kernel has removed the breakpoints (before Linux 5.13 they stay, at
 * addresses that are meaningless now), but keeps their registers until they are closed. Closing
 * also removes them from the threads that inherited them. */
static void replaced(struct watched_processes *processes, const struct perf_event_header *record)
{
    const struct named_record *name = body_of(record, sizeof *name);
    struct watched_process *process =
        name && record->misc & PERF_RECORD_MISC_COMM_EXEC ? find(processes, name->pid) : NULL;
    if (!process)
        return;
    struct array none = array_of(sizeof(uint64_t));
    forget_old_places(processes, process, &none);
    process->addresses.count = 0;
    process->parent = 0;
}

/* Whether a mapping changes where the places are: it holds some, or lies over some. */
static bool concerns(const struct watched_processes *processes,
                     const struct watched_process *process, const struct mapping_record *mapping,
                     const char *path)
{
    for (size_t i = 0; i < process->addresses.count; i++)
        if (*(uint64_t *)array_at(&process->addresses, i) - mapping->start < mapping->length)
            return true;
    return trigger_is_in_file(processes->trigger, path);
}

static void mapped(struct watched_processes *processes, const struct perf_event_header *record)
{
    const struct mapping_record *mapping = body_of(record, sizeof *mapping);
    const char *path = (const char *)(mapping + 1);
    struct watched_process *process = mapping ? find(processes, mapping->named.pid) : NULL;
    struct error problem = {0};
    if (process && memchr(path, 0, record->size - sizeof *record - sizeof *mapping) &&
        concerns(processes, process, mapping, path) &&
        !watch_new_places(processes, process, &problem))
        note_problem(processes, &problem);
}

void watched_processes_handle(struct watched_processes *processes,
                              const struct perf_event_header *record, uint64_t round)
{
    switch (record->type) {
    case PERF_RECORD_FORK:
        created(processes, record, round);
        break;
    case PERF_RECORD_EXIT:
        ended(processes, record);
        break;
    case PERF_RECORD_COMM:
        replaced(processes, record);
        break;
    case PERF_RECORD_MMAP2:
        mapped(processes, record);
        break;
    default:
        break;
    }
}
