#include "engine/pt/tracing.h"

#include "engine/pt/extra_events.h"
#include "engine/pt/pt_unit.h"
#include "perf_event/permissions.h"
#include "perf_event/processors.h"
#include "perf_event/sideband.h"
#include "perf_event/threads.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    /* Of records. Rings of packets hold few: one per switch of threads. Together with the smallest
     * area they fit into the memory that the kernel lets every user lock: 516 KiB per processor. */
    SIDEBAND_RING = 64 << 10,
    PACKETS_RING = 16 << 10,
    SMALLEST_AREA = 64 << 10,
};

/* ---- event attributes ---- */

static bool ask(struct tracing *tracing, struct perf_event_attr *attributes, struct error *error)
{
    const struct record_options *options = tracing->options;
    if (!pt_unit_open(&tracing->unit, tracing->kernel, error) ||
        !pt_unit_ask(&tracing->unit, &options->processor, attributes, error))
        return false;
    bool shared = options->multi_thread || options->follow;
    attributes->sample_type = SIDEBAND_SAMPLE_TYPE;
    attributes->sample_id_all = 1;
    attributes->enable_on_exec = tracing->held;
    attributes->inherit = shared;
    attributes->inherit_thread = shared && !options->follow;
    attributes->watermark = 1;
    attributes->wakeup_watermark = PACKETS_RING / 2;
    return true;
}

static bool begin(struct tracing *tracing, struct error *error)
{
    struct perf_event_attr packets;
    if (!ask(tracing, &packets, error) ||
        !processors_online(&tracing->processors, tracing->kernel, error))
        return false;
    const struct array *shared = packets.inherit ? &tracing->processors : NULL;
    tracing->area_size = tracing->options->snapshot_size;
    struct perf_event_attr sideband = sideband_attributes(shared != NULL, SIDEBAND_RING);
    struct perf_event_attr none = {0};
    return event_rings_begin(&tracing->sideband, tracing->kernel, &sideband, &tracing->processors,
                             SIDEBAND_RING, error) &&
           event_rings_begin(&tracing->extras, tracing->kernel, &none, shared, SIDEBAND_RING,
                             error) &&
           event_rings_begin(&tracing->packets, tracing->kernel, &packets, shared, PACKETS_RING,
                             error);
}

/* ---- opening ---- */

static bool refuse(const struct tracing *tracing, const struct event_rings *rings, pid_t tid,
                   int problem, struct error *error)
{
    if (rings->unmapped)
        return event_ring_refused(error, tracing->kernel, rings->size, problem);
    char what[128];
    if (rings == &tracing->extras)
        snprintf(what, sizeof what, "record %s in the thread %d",
                 tracing->options->processor.events[rings->kind].kind->name, (int)tid);
    else
        snprintf(what, sizeof what, "trace the thread %d with Intel PT", (int)tid);
    struct event_request request = {
        .what = what,
        .attributes = &rings->attributes,
        .pid = tid,
        .cpu = rings->processors ? 0 : -1,
    };
    return event_refused(error, tracing->kernel, &request, problem);
}

static int add_packets(struct tracing *tracing, pid_t tid)
{
    struct event_rings *packets = &tracing->packets;
    bool threads_alone = packets->attributes.inherit_thread;
    int problem = event_rings_add_fitting(packets, tid, false);
    tracing->children_too |= threads_alone && !packets->attributes.inherit_thread;
    return problem;
}

/* Maps areas for the rings that have none. */
static int add_areas(struct tracing *tracing)
{
    while (tracing->areas.count < tracing->packets.rings.count) {
        const struct event_ring *ring = event_ring_at(&tracing->packets, tracing->areas.count);
        struct aux_area area;
        int problem = aux_area_open(&area, tracing->kernel, ring_event_at(ring, 0)->descriptor,
                                    ring->records.page, ring->records.size, tracing->area_size,
                                    !tracing->options->full_execution);
        if (problem)
            return problem;
        array_add_all(&tracing->areas, &area, 1);
    }
    return 0;
}

static void close_areas(struct tracing *tracing)
{
    for (size_t i = 0; i < tracing->areas.count; i++)
        aux_area_close(array_at(&tracing->areas, i));
    array_free(&tracing->areas);
}

bool tracing_map_again(struct tracing *tracing, struct error *error)
{
    struct event_rings *rings[] = {&tracing->sideband, &tracing->packets, &tracing->kernel_sideband,
                                   &tracing->extras};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        if (!event_rings_map_again(rings[i], error))
            return false;
    tracing->areas.count = 0;
    int problem = add_areas(tracing);
    return !problem || event_ring_refused(error, tracing->kernel, tracing->area_size, problem);
}

/* A default size is halved until the kernel can map it, as often as there are rings. */
static bool map_areas(struct tracing *tracing, struct error *error)
{
    uint64_t wanted = tracing->area_size;
    for (int problem; (problem = add_areas(tracing)); tracing->area_size /= 2) {
        close_areas(tracing);
        if ((problem != EPERM && problem != ENOMEM) || tracing->options->sized ||
            tracing->area_size <= SMALLEST_AREA)
            return event_ring_refused(error, tracing->kernel, tracing->area_size, problem);
    }
    event_rings_kept_small("packets", tracing->area_size, wanted);
    return true;
}

/* New threads whose parent's events are inherited have them already. */
static bool add_thread(struct tracing *tracing, pid_t tid, bool traced, bool created,
                       struct error *error)
{
    int problem = traced ? add_packets(tracing, tid) : 0;
    if (problem == ESRCH || (problem == EBUSY && created))
        return true;
    if (problem)
        return refuse(tracing, &tracing->packets, tid, problem, error);
    problem = traced ? extra_events_add(&tracing->extras, &tracing->options->processor,
                                        &tracing->packets.attributes, tid)
                     : 0;
    if (problem && problem != ESRCH)
        return refuse(tracing, &tracing->extras, tid, problem, error);
    problem = event_rings_add_thread(&tracing->sideband, tid);
    return !problem || problem == ESRCH || refuse(tracing, &tracing->sideband, tid, problem, error);
}

/* `created`: during the search. */
static bool add_threads(struct tracing *tracing, pid_t pid, const struct array *tids, bool created,
                        struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < tids->count; i++) {
        pid_t tid = *(pid_t *)array_at(tids, i);
        bool traced = tracing_per_cpu(tracing) || tid == pid;
        /* The sideband reports new threads. */
        if (!traced && !created)
            *(pid_t *)array_add(&tracing->untraced) = pid;
        ok = add_thread(tracing, tid, traced, created, error);
    }
    return ok;
}

static bool add_process(struct tracing *tracing, pid_t pid, struct error *error)
{
    size_t before = tracing->packets.rings.count;
    struct thread_search search;
    bool ok = true;
    thread_search_begin(&search, tracing->kernel, pid, &tracing->tids);
    for (bool created = false; ok && !search.over; created = true)
        ok = thread_search_look(&search, error) &&
             add_threads(tracing, pid, &search.found, created, error);
    thread_search_end(&search);
    return ok &&
           (tracing->packets.rings.count > before || tracing_per_cpu(tracing) ||
            error_set(error, ERROR_NOT_FOUND, "there is no process %d: it has ended.", (int)pid));
}

/* The kernel's changes of its own code while it is traced. An old kernel without these records is
 * tolerated: such changes are rare, and the code is copied. */
static void follow_kernel(struct tracing *tracing)
{
    struct perf_event_attr attributes = sideband_of_kernel(SIDEBAND_RING);
    if (tracing->options->processor.scope == TRACE_USER ||
        !event_rings_begin(&tracing->kernel_sideband, tracing->kernel, &attributes,
                           &tracing->processors, SIDEBAND_RING, NULL))
        return;
    event_rings_add_thread(&tracing->kernel_sideband, -1);
}

static bool wait_for_all(struct tracing *tracing, struct error *error)
{
    const int descriptors[] = {tracing->sideband.descriptor, tracing->packets.descriptor,
                               tracing->extras.descriptor, tracing->kernel_sideband.descriptor};
    struct epoll_event event = {.events = EPOLLIN};
    tracing->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (tracing->descriptor < 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot wait for packets (epoll)");
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            epoll_ctl(tracing->descriptor, EPOLL_CTL_ADD, descriptors[i], &event);
    return true;
}

bool tracing_open(struct tracing *tracing, const struct kernel *kernel,
                  const struct record_options *options, const pid_t *pids, size_t pid_count,
                  bool held, struct error *error)
{
    *tracing = (struct tracing){
        .kernel = kernel,
        .options = options,
        .held = held,
        .processors = array_of(sizeof(int)),
        .areas = array_of(sizeof(struct aux_area)),
        .tids = array_of(sizeof(uint32_t)),
        .untraced = array_of(sizeof(pid_t)),
        .descriptor = -1,
        .sideband.descriptor = -1,
        .extras.descriptor = -1,
        .packets.descriptor = -1,
        .kernel_sideband.descriptor = -1,
    };
    if (!begin(tracing, error))
        return false;
    for (size_t i = 0; i < pid_count; i++)
        if (!add_process(tracing, pids[i], error))
            return false;
    if (!tracing->packets.rings.count)
        return error_set(error, ERROR_NOT_FOUND, "there is no process %d: it has ended.",
                         (int)pids[0]);
    follow_kernel(tracing);
    return map_areas(tracing, error) && wait_for_all(tracing, error);
}

void tracing_close(struct tracing *tracing)
{
    close_areas(tracing);
    event_rings_close(&tracing->packets);
    event_rings_close(&tracing->sideband);
    event_rings_close(&tracing->kernel_sideband);
    event_rings_close(&tracing->extras);
    if (tracing->kernel && tracing->descriptor >= 0)
        close(tracing->descriptor);
    tracing->descriptor = -1;
    array_free(&tracing->processors);
    array_free(&tracing->tids);
    array_free(&tracing->untraced);
}

void tracing_start(const struct tracing *tracing)
{
    event_rings_control(&tracing->packets, PERF_EVENT_IOC_ENABLE);
    event_rings_control(&tracing->extras, PERF_EVENT_IOC_ENABLE);
}

void tracing_stop(const struct tracing *tracing)
{
    event_rings_control(&tracing->packets, PERF_EVENT_IOC_DISABLE);
}
