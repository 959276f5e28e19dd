#include "engine/sample/sampling.h"

#include "perf_event/permissions.h"
#include "perf_event/processors.h"
#include "perf_event/sideband.h"
#include "perf_event/threads.h"

#include <errno.h>
#include <stdio.h>

enum {
    SIDEBAND_RING = 64 << 10,
    /* A saved stack takes 8 KiB: by default, the ring holds some seconds of them. */
    SAVED_STACKS_RING = 32 << 20,
    SMALLEST_RING = 64 << 10,
};

static const struct record_options *options_of(const struct sampling *sampling)
{
    return sampling->target->options;
}

/* ---- event attributes ---- */

static void set_rings(const struct sampling *sampling, struct perf_event_attr *attributes,
                      uint64_t size)
{
    const struct record_options *options = options_of(sampling);
    bool shared = options->multi_thread || options->follow;
    attributes->inherit = shared;
    attributes->inherit_thread = shared && !options->follow;
    attributes->enable_on_exec = sampling->target->held;
    attributes->write_backward = !options->full_execution;
    attributes->watermark = 1;
    attributes->wakeup_watermark = (uint32_t)(size / 4);
}

static uint64_t ring_size(const struct sampling *sampling)
{
    const struct record_options *options = options_of(sampling);
    if (!options->sized && sampling->means.callgraph == CALLGRAPH_DWARF)
        return SAVED_STACKS_RING;
    return options->snapshot_size;
}

static bool begin_rings(struct sampling *sampling, uint64_t size, struct error *error)
{
    const struct live_target *target = sampling->target;
    struct perf_event_attr samples =
        sample_event(&sampling->means, sampling_processor(sampling)->scope);
    set_rings(sampling, &samples, size);
    samples.context_switch = 1;
    struct perf_event_attr sideband = sideband_attributes(false, SIDEBAND_RING);
    return event_rings_begin(&sampling->sideband, target->kernel, &sideband, &sampling->processors,
                             SIDEBAND_RING, error) &&
           event_rings_begin(&sampling->samples, target->kernel, &samples,
                             samples.inherit ? &sampling->processors : NULL, size, error);
}

/* ---- opening ---- */

/* The events that are recorded beside, into the same rings. */
static int add_extra_events(struct sampling *sampling, pid_t tid)
{
    const struct processor_options *wanted = sampling_processor(sampling);
    struct event_rings *rings = &sampling->samples;
    int problem = 0;
    for (size_t i = 0; !problem && i < wanted->event_count; i++) {
        rings->attributes = sample_extra_event(&wanted->events[i], wanted->scope);
        set_rings(sampling, &rings->attributes, rings->size);
        rings->kind = (unsigned)(SAMPLING_FIRST_EXTRA + i);
        problem = event_rings_add_fitting(rings, tid,
                                          wanted->events[i].precision == EVENT_PRECISION_HIGHEST);
    }
    return problem;
}

static int add_samples(struct sampling *sampling, pid_t tid)
{
    struct event_rings *rings = &sampling->samples;
    rings->kind = SAMPLING_STACKS;
    int problem = event_rings_add_fitting(rings, tid, false);
    return problem ? problem : add_extra_events(sampling, tid);
}

static bool refuse(const struct sampling *sampling, const struct event_rings *rings, pid_t tid,
                   int problem, struct error *error)
{
    if (rings->unmapped)
        return event_ring_refused(error, sampling->target->kernel, rings->size, problem);
    char what[96];
    bool extra = rings == &sampling->samples && rings->kind >= SAMPLING_FIRST_EXTRA;
    const char *name =
        extra ? sampling_processor(sampling)->events[rings->kind - SAMPLING_FIRST_EXTRA].kind->name
              : "call stacks";
    snprintf(what, sizeof what, "sample %s in the thread %d", name, (int)tid);
    const struct event_request request = {
        .what = what,
        .attributes = &rings->attributes,
        .pid = tid,
        .cpu = rings->processors ? 0 : -1,
    };
    return event_refused(error, sampling->target->kernel, &request, problem);
}

/* A thread that has ended meanwhile is no error. */
static bool add_thread(struct sampling *sampling, pid_t tid, bool sampled, struct error *error)
{
    struct perf_event_attr attributes = sampling->samples.attributes;
    int problem = sampled ? add_samples(sampling, tid) : 0;
    bool refused = problem && problem != ESRCH;
    if (refused)
        return refuse(sampling, &sampling->samples, tid, problem, error);
    sampling->samples.attributes = attributes;
    problem = problem ? problem : event_rings_add_thread(&sampling->sideband, tid);
    return !problem || problem == ESRCH ||
           refuse(sampling, &sampling->sideband, tid, problem, error);
}

static bool add_process(struct sampling *sampling, pid_t pid, struct error *error)
{
    bool all = sampling->samples.processors != NULL, ok = true;
    struct thread_search search;
    thread_search_begin(&search, sampling->target->kernel, pid, &sampling->tids);
    while (ok && !search.over) {
        ok = thread_search_look(&search, error);
        for (size_t i = 0; ok && i < search.found.count; i++) {
            pid_t tid = *(pid_t *)array_at(&search.found, i);
            ok = add_thread(sampling, tid, all || tid == pid, error);
        }
    }
    thread_search_end(&search);
    return ok;
}

static bool add_processes(struct sampling *sampling, struct error *error)
{
    const struct live_target *target = sampling->target;
    for (size_t i = 0; i < target->pid_count; i++)
        if (!add_process(sampling, target->pids[i], error))
            return false;
    return sampling->samples.rings.count > 0 ||
           error_set(error, ERROR_NOT_FOUND, "there is no process %d: it has ended.",
                     (int)target->pids[0]);
}

static void close_rings(struct sampling *sampling)
{
    event_rings_close(&sampling->samples);
    event_rings_close(&sampling->sideband);
    sampling->tids.count = 0;
}

/* A default size is halved until the kernel can map it, as often as there are rings. */
static bool open_rings(struct sampling *sampling, struct error *error)
{
    uint64_t wanted = ring_size(sampling), size = wanted;
    while (!begin_rings(sampling, size, error) || !add_processes(sampling, error)) {
        bool too_large = sampling->samples.unmapped;
        if (!too_large || options_of(sampling)->sized || size <= SMALLEST_RING)
            return false;
        close_rings(sampling);
        size /= 2;
    }
    event_rings_kept_small("samples", size, wanted);
    return true;
}

bool sampling_open(struct sampling *sampling, const struct live_target *target, struct error *error)
{
    *sampling = (struct sampling){
        .target = target,
        .processors = array_of(sizeof(int)),
        .tids = array_of(sizeof(uint32_t)),
        .sideband.descriptor = -1,
        .samples.descriptor = -1,
    };
    return sampling_means_find(&sampling->means, target->kernel, sampling_processor(sampling),
                               error) &&
           processors_online(&sampling->processors, target->kernel, error) &&
           open_rings(sampling, error);
}

void sampling_close(struct sampling *sampling)
{
    close_rings(sampling);
    array_free(&sampling->processors);
    array_free(&sampling->tids);
}
