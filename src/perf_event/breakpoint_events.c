#include "perf_event/breakpoint_events.h"

#include "perf_event/event_attributes.h"
#include "perf_event/permissions.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

void breakpoint_events_begin(struct breakpoint_events *events, const struct kernel *kernel,
                             const struct record_rings *rings, const char *name,
                             enum breakpoint_scope scope)
{
    *events = (struct breakpoint_events){
        .kernel = kernel,
        .rings = rings,
        .name = name,
        .scope = scope,
        .events = array_of(sizeof(struct breakpoint_event)),
    };
    file_limit_raise(&events->file_limit); /* each thread takes several per processor */
}

void breakpoint_events_close(struct breakpoint_events *events)
{
    for (size_t i = 0; i < events->events.count; i++)
        close(((struct breakpoint_event *)array_at(&events->events, i))->descriptor);
    array_free(&events->events);
    file_limit_restore(&events->file_limit);
}

/* ---- event attributes ---- */

/* What all events share: who inherits them, and which sample_id fields end their records. */
static struct perf_event_attr shared(const struct breakpoint_events *events,
                                     struct perf_event_attr attributes)
{
    attributes.inherit = events->scope != BREAKPOINTS_ONE_THREAD;
    attributes.inherit_thread = events->scope == BREAKPOINTS_ALL_THREADS && !events->old_kernel;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID;
    attributes.sample_id_all = 1;
    return attributes;
}

static struct perf_event_attr sideband(const struct breakpoint_events *events)
{
    struct perf_event_attr attributes = shared(events, dummy_attributes());
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.task = 1;
    return attributes;
}

static struct perf_event_attr breakpoint(const struct breakpoint_events *events, uint64_t address)
{
    struct perf_event_attr attributes = shared(events, breakpoint_attributes(address));
    attributes.wakeup_events = 1;
    attributes.remove_on_exec = !events->old_kernel; /* another program has something else there */
    attributes.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER;
    attributes.sample_regs_user = 1U << PERF_REG_X86_SI | 1U << PERF_REG_X86_DI;
    return attributes;
}

/* ---- opening ---- */

static int processor_of(const struct breakpoint_events *events, size_t ring)
{
    return ((const struct record_ring *)array_at(&events->rings->rings, ring))->processor;
}

/* Opens one event: the sideband if `address` is 0, else a breakpoint. A descriptor, or -1 and
 * errno. */
static int open_event(struct breakpoint_events *events, uint32_t tid, size_t ring, uint64_t address)
{
    const struct kernel *kernel = events->kernel;
    for (;;) {
        struct perf_event_attr attributes =
            address ? breakpoint(events, address) : sideband(events);
        int descriptor = kernel->open_event(kernel, &attributes, (pid_t)tid,
                                            processor_of(events, ring), -1, PERF_FLAG_FD_CLOEXEC);
        if (descriptor >= 0)
            return descriptor;
        if ((errno != EINVAL && errno != E2BIG) || events->old_kernel)
            return -1;
        events->old_kernel = true;
    }
}

/* 0, or an errno. `doubtful`: the thread may have inherited a breakpoint at that address already.
 */
static int add_event(struct breakpoint_events *events, const struct breakpoint_request *wanted,
                     size_t ring, uint64_t address, bool doubtful)
{
    const struct kernel *kernel = events->kernel;
    struct breakpoint_event event = {.pid = wanted->pid, .address = address};
    event.descriptor = open_event(events, wanted->tid, ring, address);
    if (event.descriptor < 0)
        return errno;
    int problem = record_rings_lead(events->rings, ring, event.descriptor);
    if (!problem && doubtful &&
        kernel->control(kernel, event.descriptor, PERF_EVENT_IOC_ID, (unsigned long)&event.id) != 0)
        problem = errno;
    if (problem)
        close(event.descriptor);
    else
        array_add_all(&events->events, &event, 1);
    return problem;
}

/* How many breakpoints the thread has on a processor, including those of a debugger. */
static size_t count_breakpoints(const struct breakpoint_events *events, uint32_t tid, size_t ring,
                                uint64_t address)
{
    int free_ones[BREAKPOINT_REGISTERS];
    size_t count = 0;
    int problem = 0;
    struct perf_event_attr attributes = breakpoint(events, address);
    attributes.disabled = 1;
    attributes.inherit = attributes.inherit_thread = 0;
    while (count < BREAKPOINT_REGISTERS) {
        int descriptor =
            events->kernel->open_event(events->kernel, &attributes, (pid_t)tid,
                                       processor_of(events, ring), -1, PERF_FLAG_FD_CLOEXEC);
        problem = descriptor < 0 ? errno : 0;
        if (descriptor < 0)
            break;
        free_ones[count++] = descriptor;
    }
    for (size_t i = 0; i < count; i++)
        close(free_ones[i]);
    /* Other problems show when the breakpoints are opened. */
    return problem == ENOSPC || problem == 0 ? BREAKPOINT_REGISTERS - count : 0;
}

/* What a thread has inherited on one processor. */
struct possession {
    size_t count;  /* of the requested addresses, the first `count` */
    bool doubtful; /* it may have more */
};

static struct possession possession_of(const struct breakpoint_events *events,
                                       const struct breakpoint_request *wanted, size_t ring)
{
    if (!wanted->created || wanted->count == 0)
        return (struct possession){.count = wanted->watched};
    size_t counted = count_breakpoints(events, wanted->tid, ring, wanted->addresses[0]);
    /* A thread may get a second breakpoint per address where the count is doubtful. With more than
     * two addresses they would not fit into the registers: it is taken to have all. */
    if (counted > wanted->count ||
        (counted == 0 && wanted->reported && wanted->count > BREAKPOINT_REGISTERS / 2))
        return (struct possession){.count = wanted->count};
    return (struct possession){counted > wanted->watched ? counted : wanted->watched, counted == 0};
}

/* A processor that was just switched off runs nothing. */
static bool matters(int problem)
{
    return problem != 0 && problem != ENODEV;
}

/* The order decides which events a thread inherits that is created at the same time: see the
 * header. */
static int open_missing(struct breakpoint_events *events, const struct breakpoint_request *wanted,
                        const struct possession *had, uint64_t *failed)
{
    size_t rings = events->rings->rings.count;
    int problem = 0;
    *failed = 0;
    for (size_t ring = 0; wanted->listen && ring < rings && !matters(problem); ring++)
        problem = add_event(events, wanted, ring, 0, false);
    for (size_t i = 0; i < wanted->count; i++)
        for (size_t ring = 0; ring < rings && !matters(problem); ring++)
            if (i >= had[ring].count) {
                *failed = wanted->addresses[i];
                problem = add_event(events, wanted, ring, *failed, had[ring].doubtful);
            }
    return matters(problem) ? problem : 0;
}

static bool refuse(const struct breakpoint_events *events, const struct breakpoint_request *wanted,
                   uint64_t address, int problem, struct error *error)
{
    char what[256];
    if (address)
        snprintf(what, sizeof what, "watch %.100s (0x%" PRIx64 ") in thread %u of process %u",
                 events->name, address, wanted->tid, wanted->pid);
    else
        snprintf(what, sizeof what, "listen to thread %u of process %u", wanted->tid, wanted->pid);
    struct perf_event_attr attributes = address ? breakpoint(events, address) : sideband(events);
    struct event_request request = {what, &attributes, (pid_t)wanted->pid, 0};
    return event_refused(error, events->kernel, &request, problem);
}

bool breakpoint_events_open(struct breakpoint_events *events,
                            const struct breakpoint_request *wanted, bool *complete,
                            struct error *error)
{
    size_t rings = events->rings->rings.count;
    struct array had = array_of(sizeof(struct possession));
    *complete = wanted->created && wanted->count > 0;
    for (size_t ring = 0; ring < rings; ring++) {
        struct possession possession = possession_of(events, wanted, ring);
        array_add_all(&had, &possession, 1);
        *complete &= possession.count == wanted->count;
    }
    uint64_t failed = 0;
    int problem = *complete ? 0 : open_missing(events, wanted, had.elements, &failed);
    array_free(&had);
    return problem == 0 || problem == ESRCH || refuse(events, wanted, failed, problem, error);
}

/* ---- public functions ---- */

static void keep(struct breakpoint_events *events,
                 bool (*wanted)(const struct breakpoint_event *, uint32_t, uint64_t), uint32_t pid,
                 uint64_t address)
{
    size_t kept = 0;
    for (size_t i = 0; i < events->events.count; i++) {
        struct breakpoint_event *event = array_at(&events->events, i);
        if (wanted(event, pid, address))
            *(struct breakpoint_event *)array_at(&events->events, kept++) = *event;
        else
            close(event->descriptor);
    }
    events->events.count = kept;
}

static bool is_elsewhere(const struct breakpoint_event *event, uint32_t pid, uint64_t address)
{
    return event->address != address || event->pid != pid;
}

void breakpoint_events_forget(struct breakpoint_events *events, uint32_t pid, uint64_t address)
{
    keep(events, is_elsewhere, pid, address);
}

static bool is_sideband(const struct breakpoint_event *event, uint32_t pid, uint64_t address)
{
    (void)pid;
    (void)address;
    return event->address == 0;
}

void breakpoint_events_forget_all(struct breakpoint_events *events)
{
    keep(events, is_sideband, 0, 0);
}

void breakpoint_events_withdraw(struct breakpoint_events *events, uint64_t one, uint64_t other)
{
    struct breakpoint_event *all = events->events.elements;
    for (size_t i = 0; i < events->events.count; i++)
        if (all[i].id && (all[i].id == one || all[i].id == other)) {
            close(all[i].descriptor);
            all[i] = all[--events->events.count];
            return;
        }
}
