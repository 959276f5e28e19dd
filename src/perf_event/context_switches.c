#include "perf_event/context_switches.h"

#include "perf_event/event_attributes.h"
#include "perf_event/permissions.h"
#include "perf_event/processors.h"
#include "perf_event/record_layouts.h"
#include "perf_event/threads.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a ring: some thousand records at least. Unprivileged users get half a megabyte per processor, for all that they record
 * (perf_event_mlock_kb), and what RLIMIT_MEMLOCK allows for each process besides. */
enum {
    LEAST_RING = 128 << 10,
    MOST_RING = 1 << 20,
    ALL_RINGS = 32 << 20, /* the kernel has no other use for the memory meanwhile */
};

/* The largest size with which the rings of all processors are covered by this process's own limit, whatever else the user records. */
static uint64_t ring_size(size_t processors)
{
    struct rlimit limit;
    uint64_t size = MOST_RING, page = (uint64_t)sysconf(_SC_PAGESIZE), most = ALL_RINGS;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return LEAST_RING;
    if (limit.rlim_cur < most)
        most = limit.rlim_cur;
    while (size > LEAST_RING && (size + page) * processors > most)
        size /= 2;
    return size;
}

/* The whole body of a record, as sample_type asks for it. */
struct switch_body {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
};

static struct perf_event_attr attributes(void)
{
    struct perf_event_attr attributes = dummy_attributes();
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attributes.sample_id_all = 1;
    attributes.sample_period = 1;
    attributes.inherit = 1;
    attributes.context_switch = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    attributes.watermark = 1;
    attributes.wakeup_watermark = LEAST_RING / 2;
    return attributes;
}

bool context_switches_begin(struct context_switches *switches, const struct kernel *kernel,
                            struct error *error)
{
    *switches = (struct context_switches){.processors = array_of(sizeof(int))};
    const struct perf_event_attr wanted = attributes();
    return processors_online(&switches->processors, kernel, error) &&
           event_rings_begin(&switches->rings, kernel, &wanted, &switches->processors,
                             ring_size(switches->processors.count), error);
}

void context_switches_close(struct context_switches *switches)
{
    event_rings_close(&switches->rings);
    array_free(&switches->processors);
}

static bool refused(const struct context_switches *switches, uint32_t tid, int problem,
                    struct error *error)
{
    const struct event_rings *rings = &switches->rings;
    const struct event_request request = {
        .what = "record context switches",
        .attributes = &rings->attributes,
        .pid = (pid_t)tid,
        .cpu = *(const int *)array_at(&switches->processors, 0),
    };
    return rings->unmapped ? event_ring_refused(error, rings->kernel, rings->size, problem)
                           : event_refused(error, rings->kernel, &request, problem);
}

bool context_switches_watch_thread(struct context_switches *switches, uint32_t tid,
                                   struct error *error)
{
    int problem = event_rings_add_thread(&switches->rings, (pid_t)tid);
    /* A thread that has ended is switched no more. */
    return problem == 0 || problem == ESRCH || refused(switches, tid, problem, error);
}

bool context_switches_watch_process(struct context_switches *switches, uint32_t pid,
                                    struct error *error)
{
    struct array known = array_of(sizeof(uint32_t));
    struct thread_search search;
    bool ok = true;
    thread_search_begin(&search, switches->rings.kernel, (pid_t)pid, &known);
    while (ok && !search.over && (ok = thread_search_look(&search, error)))
        for (size_t i = 0; ok && i < search.found.count; i++)
            ok = context_switches_watch_thread(
                switches, *(const uint32_t *)array_at(&search.found, i), error);
    thread_search_end(&search);
    array_free(&known);
    return ok;
}

static void take(struct context_switches *switches, const struct perf_event_header *record,
                 context_switch_handler *handle, void *context)
{
    struct switch_body body;
    switches->lost += record_lost(record);
    if (record->type != PERF_RECORD_SWITCH || record->size < sizeof *record + sizeof body)
        return;
    memcpy(&body, record + 1, sizeof body);
    const struct context_switch taken = {
        .time = body.time,
        .tid = body.tid,
        .cpu = body.cpu,
        .out = record->misc & PERF_RECORD_MISC_SWITCH_OUT,
        .preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
    };
    handle(context, &taken);
}

void context_switches_wait(const struct context_switches *switches, unsigned milliseconds)
{
    struct pollfd much = {.fd = switches->rings.descriptor, .events = POLLIN};
    poll(&much, 1, (int)milliseconds);
}

void context_switches_read(struct context_switches *switches, context_switch_handler *handle,
                           void *context)
{
    event_rings_handle(&switches->rings);
    for (size_t i = 0; i < switches->rings.rings.count; i++) {
        struct perf_ring *ring = &event_ring_at(&switches->rings, i)->records;
        perf_ring_begin(ring);
        for (const struct perf_event_header *record; (record = perf_ring_next(ring));)
            take(switches, record, handle, context);
        perf_ring_release(ring);
    }
}
