#include "engine/sample/sampler.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/kernel_code.h"
#include "engine/perf_event/perf_clock.h"
#include "engine/perf_event/permissions.h"
#include "engine/perf_event/processors.h"
#include "engine/perf_event/record_layouts.h"
#include "engine/perf_event/side_band.h"
#include "engine/perf_event/threads.h"
#include "engine/running_process.h"
#include "engine/vdso.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SIDE_BAND_RING = 64 << 10,
    /* A saved stack takes 8 KiB: unless somebody wants less, some seconds are to fit. */
    SAVED_STACKS_RING = 32 << 20,
    SMALLEST_RING = 64 << 10,
};

/* The events of perf.data; those between are the extra ones. */
enum { EVENT_SAMPLES, EVENT_FIRST_EXTRA };

static const struct record_options *options_of(const struct sampler *sampler)
{
    return sampler->target->options;
}

static const struct processor_options *processor_of(const struct sampler *sampler)
{
    return &options_of(sampler)->processor;
}

/* ---- what is asked for ---- */

static void set_rings(const struct sampler *sampler, struct perf_event_attr *attributes,
                      uint64_t size)
{
    const struct record_options *options = options_of(sampler);
    bool shared = options->multi_thread || options->follow;
    attributes->inherit = shared;
    attributes->inherit_thread = shared && !options->follow;
    attributes->enable_on_exec = sampler->target->held;
    attributes->write_backward = !options->full_execution;
    attributes->watermark = 1;
    attributes->wakeup_watermark = (uint32_t)(size / 4);
}

static uint64_t ring_size(const struct sampler *sampler)
{
    const struct record_options *options = options_of(sampler);
    if (!options->sized && sampler->means.callgraph == CALLGRAPH_DWARF)
        return SAVED_STACKS_RING;
    return options->snapshot_size;
}

static bool begin_rings(struct sampler *sampler, uint64_t size, struct error *error)
{
    const struct live_target *target = sampler->target;
    struct perf_event_attr samples = sample_event(&sampler->means, processor_of(sampler)->scope);
    set_rings(sampler, &samples, size);
    samples.context_switch = 1;
    struct perf_event_attr side_band = side_band_attributes(false, SIDE_BAND_RING);
    return event_rings_begin(&sampler->side_band, target->kernel, &side_band, &sampler->processors,
                             SIDE_BAND_RING, error) &&
           event_rings_begin(&sampler->samples, target->kernel, &samples,
                             samples.inherit ? &sampler->processors : NULL, size, error);
}

/* ---- opening ---- */

/* The events that are recorded beside, into the same rings. */
static int add_extra_events(struct sampler *sampler, pid_t tid)
{
    const struct processor_options *wanted = processor_of(sampler);
    struct event_rings *rings = &sampler->samples;
    int problem = 0;
    for (size_t i = 0; !problem && i < wanted->event_count; i++) {
        rings->attributes = sample_extra_event(&wanted->events[i], wanted->scope);
        set_rings(sampler, &rings->attributes, rings->size);
        rings->kind = (unsigned)(EVENT_FIRST_EXTRA + i);
        problem = event_rings_add_fitting(rings, tid,
                                          wanted->events[i].precision == EVENT_PRECISION_HIGHEST);
    }
    return problem;
}

static int add_samples(struct sampler *sampler, pid_t tid)
{
    struct event_rings *rings = &sampler->samples;
    rings->kind = EVENT_SAMPLES;
    int problem = event_rings_add_fitting(rings, tid, false);
    return problem ? problem : add_extra_events(sampler, tid);
}

static bool refuse(const struct sampler *sampler, const struct event_rings *rings, pid_t tid,
                   int problem, struct error *error)
{
    if (rings->unmapped)
        return event_ring_refused(error, sampler->target->kernel, rings->size, problem);
    char what[96];
    bool extra = rings == &sampler->samples && rings->kind >= EVENT_FIRST_EXTRA;
    const char *name =
        extra ? processor_of(sampler)->events[rings->kind - EVENT_FIRST_EXTRA].kind->name
              : "call stacks";
    snprintf(what, sizeof what, "sample %s in the thread %d", name, (int)tid);
    const struct event_request request = {
        .what = what,
        .attributes = &rings->attributes,
        .pid = tid,
        .cpu = rings->processors ? 0 : -1,
    };
    return event_refused(error, sampler->target->kernel, &request, problem);
}

/* A thread that has ended meanwhile is no error. */
static bool add_thread(struct sampler *sampler, pid_t tid, bool sampled, struct error *error)
{
    struct perf_event_attr attributes = sampler->samples.attributes;
    int problem = sampled ? add_samples(sampler, tid) : 0;
    bool refused = problem && problem != ESRCH;
    if (refused)
        return refuse(sampler, &sampler->samples, tid, problem, error);
    sampler->samples.attributes = attributes;
    problem = problem ? problem : event_rings_add_thread(&sampler->side_band, tid);
    return !problem || problem == ESRCH ||
           refuse(sampler, &sampler->side_band, tid, problem, error);
}

static bool add_process(struct sampler *sampler, pid_t pid, struct error *error)
{
    bool all = sampler->samples.processors != NULL, ok = true;
    struct thread_search search;
    thread_search_begin(&search, sampler->target->kernel, pid, &sampler->tids);
    while (ok && !search.over) {
        ok = thread_search_look(&search, error);
        for (size_t i = 0; ok && i < search.found.count; i++) {
            pid_t tid = *(pid_t *)array_at(&search.found, i);
            ok = add_thread(sampler, tid, all || tid == pid, error);
        }
    }
    thread_search_end(&search);
    return ok;
}

static bool add_processes(struct sampler *sampler, struct error *error)
{
    const struct live_target *target = sampler->target;
    for (size_t i = 0; i < target->pid_count; i++)
        if (!add_process(sampler, target->pids[i], error))
            return false;
    return sampler->samples.rings.count > 0 ||
           error_set(error, ERROR_NOT_FOUND, "there is no process %d: it has ended.",
                     (int)target->pids[0]);
}

static void close_rings(struct sampler *sampler)
{
    event_rings_close(&sampler->samples);
    event_rings_close(&sampler->side_band);
    sampler->tids.count = 0;
}

/* A size that nobody asked for is halved until the kernel has so much for us, as often as there are
 * rings. */
static bool open_rings(struct sampler *sampler, struct error *error)
{
    uint64_t wanted = ring_size(sampler), size = wanted;
    while (!begin_rings(sampler, size, error) || !add_processes(sampler, error)) {
        bool too_large = sampler->samples.unmapped;
        if (!too_large || options_of(sampler)->sized || size <= SMALLEST_RING)
            return false;
        close_rings(sampler);
        size /= 2;
    }
    event_rings_kept_small("samples", size, wanted);
    return true;
}

/* ---- perf.data ---- */

static bool open_writer(struct sampler *sampler, struct error *error)
{
    const struct processor_options *wanted = processor_of(sampler);
    enum { EVENTS = EVENT_FIRST_EXTRA + EXTRA_EVENTS + 1, NAME_SIZE = sizeof sampler->names[0] };
    struct raw_perf_data_event events[EVENTS];
    size_t count = 0, side_band;
    struct perf_event_attr samples = sample_event(&sampler->means, wanted->scope);
    samples.context_switch = 1;
    events[count++] = (struct raw_perf_data_event){
        samples, sample_event_name(sampler->names[0], NAME_SIZE,
                                   sampler->means.cycles ? "cycles" : "cpu-clock", wanted->scope)};
    for (size_t i = 0; i < wanted->event_count; i++, count++)
        events[count] = (struct raw_perf_data_event){
            sample_extra_event(&wanted->events[i], wanted->scope),
            sample_event_name(sampler->names[count], NAME_SIZE, wanted->events[i].kind->name,
                              wanted->scope)};
    side_band = count;
    events[count++] = (struct raw_perf_data_event){sampler->side_band.attributes, "dummy:u"};
    char *path = memory_format("%s/perf.data", sampler->target->directory);
    sampler->writer = raw_perf_data_writer_open(path, events, count,
                                                options_of(sampler)->magic_trace_command, error);
    free(path);
    sampler->side_band.kind = (unsigned)side_band;
    return sampler->writer != NULL;
}

static void add_ids(struct sampler *sampler, const struct event_rings *rings, bool side_band)
{
    for (size_t i = 0; i < rings->rings.count; i++) {
        const struct event_ring *ring = event_ring_at(rings, i);
        for (size_t j = 0; j < ring->events.count; j++) {
            const struct ring_event *event = ring_event_at(ring, j);
            raw_perf_data_add_id(sampler->writer, side_band ? rings->kind : event->kind, event->id);
        }
    }
}

/* Where the kernel lies: perf wants it. */
static bool write_kernel(struct sampler *sampler, struct error *error)
{
    struct kernel_text text;
    if (processor_of(sampler)->scope == TRACE_USER ||
        !kernel_text_find(&text, sampler->target->kernel->proc, NULL))
        return true;
    const struct side_band_record where = kernel_text_record(&text);
    return raw_perf_data_write_side_band(sampler->writer, &where, error);
}

/* The names of the kernel's functions; without them it shows as one. */
static void keep_kernel_names(const struct sampler *sampler)
{
    if (processor_of(sampler)->scope == TRACE_USER)
        return;
    char *from = memory_format("%s/kallsyms", sampler->target->kernel->proc);
    char *to = memory_format("%s/images/kallsyms", sampler->target->directory);
    size_t size;
    char *names = file_read(from, &size, NULL);
    int copy = names ? file_create_private(to, NULL) : -1;
    if (copy >= 0) {
        file_write_all(copy, names, size, to, NULL);
        close(copy);
    }
    free(names);
    free(from);
    free(to);
}

static void find_clock(struct sampler *sampler)
{
    struct perf_clock clock;
    if (!perf_clock_read(&clock, sampler->target->kernel, NULL))
        return;
    sampler->facts.tsc = clock.conversion;
    sampler->facts.wall_clock_ns = clock.wall_clock_ns;
    sampler->facts.wall_clock_at = clock.wall_clock_at;
}

static bool open_sampler(void *context, const struct live_target *target, struct error *error)
{
    struct sampler *sampler = context;
    *sampler = (struct sampler){
        .target = target,
        .processors = array_of(sizeof(int)),
        .tids = array_of(sizeof(uint32_t)),
        .taken = array_of(sizeof(uint64_t)),
        .side_band.descriptor = -1,
        .samples.descriptor = -1,
        .facts.engine = "sample",
    };
    if (!sampling_means_find(&sampler->means, target->kernel, processor_of(sampler), error) ||
        !processors_online(&sampler->processors, target->kernel, error) ||
        !open_rings(sampler, error) || !open_writer(sampler, error))
        return false;
    sampler->facts.callgraph = callgraph_mode_name(sampler->means.callgraph);
    for (size_t i = 0; i < sampler->samples.rings.count; i++)
        array_add(&sampler->taken);
    add_ids(sampler, &sampler->samples, false);
    add_ids(sampler, &sampler->side_band, true);
    find_clock(sampler);
    keep_kernel_names(sampler);
    vdso_keep(target->directory);
    return write_kernel(sampler, error) &&
           (target->held || running_processes_write(sampler->writer, target->directory,
                                                    target->pids, target->pid_count, error));
}

/* ---- records ---- */

static bool write_record(struct sampler *sampler, const struct perf_event_header *record,
                         struct error *error)
{
    sampler->lost += record_lost(record);
    if (record->type == PERF_RECORD_SAMPLE)
        sampler->facts.bytes += record->size;
    return raw_perf_data_write_records(sampler->writer, record, record->size, error);
}

static bool drain_rings(struct sampler *sampler, struct event_rings *rings, struct error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < rings->rings.count; i++) {
        struct perf_ring *ring = &event_ring_at(rings, i)->records;
        perf_ring_begin(ring);
        for (const struct perf_event_header *record; ok && (record = perf_ring_next(ring));)
            ok = write_record(sampler, record, error);
        perf_ring_release(ring);
    }
    return ok;
}

static bool drain(void *context, struct error *error)
{
    struct sampler *sampler = context;
    event_rings_hear(&sampler->side_band);
    event_rings_hear(&sampler->samples);
    return drain_rings(sampler, &sampler->side_band, error) &&
           (!options_of(sampler)->full_execution || drain_rings(sampler, &sampler->samples, error));
}

/* The newest come first; those that an earlier snapshot took are where it began to read. */
static bool take_ring(struct sampler *sampler, struct perf_ring *ring, uint64_t *taken,
                      struct error *error)
{
    perf_ring_begin(ring);
    uint64_t newest = ring->next;
    bool ok = true;
    while (ok && ring->next != *taken) {
        const struct perf_event_header *record = perf_ring_next(ring);
        if (!record)
            break;
        ok = write_record(sampler, record, error);
    }
    *taken = newest;
    return ok;
}

static bool take(void *context, struct error *error)
{
    struct sampler *sampler = context;
    bool ok = true;
    for (size_t i = 0; ok && i < sampler->samples.rings.count; i++) {
        struct perf_ring *ring = &event_ring_at(&sampler->samples, i)->records;
        if (ring->backward)
            ok = take_ring(sampler, ring, array_at(&sampler->taken, i), error);
    }
    return ok;
}

/* ---- the rest of what a recorder does ---- */

static void start(void *context)
{
    struct sampler *sampler = context;
    event_rings_control(&sampler->samples, PERF_EVENT_IOC_ENABLE);
}

static void stop(void *context)
{
    struct sampler *sampler = context;
    event_rings_control(&sampler->samples, PERF_EVENT_IOC_DISABLE);
}

static void descriptors(void *context, int waited[LIVE_DESCRIPTORS])
{
    const struct sampler *sampler = context;
    waited[0] = sampler->side_band.descriptor;
    waited[1] = sampler->samples.descriptor;
}

static bool end(void *context, struct error *error)
{
    struct sampler *sampler = context;
    bool ok = raw_perf_data_writer_close(sampler->writer, error);
    sampler->writer = NULL;
    close_rings(sampler);
    return ok;
}

static void facts(void *context, struct live_facts *told)
{
    const struct sampler *sampler = context;
    *told = sampler->facts;
}

static void close_sampler(void *context)
{
    struct sampler *sampler = context;
    if (!sampler->target)
        return;
    if (sampler->lost > 0)
        log_warning("%llu record(s) were lost, as they came faster than they could be written. "
                    "-callgraph-mode fp, -timer-resolution Low or a larger -snapshot-size may "
                    "help.",
                    (unsigned long long)sampler->lost);
    if (sampler->writer)
        raw_perf_data_writer_abandon(sampler->writer);
    close_rings(sampler);
    array_free(&sampler->processors);
    array_free(&sampler->tids);
    array_free(&sampler->taken);
    *sampler = (struct sampler){.facts = sampler->facts};
}

struct live_recorder sampler_recorder(struct sampler *sampler)
{
    return (struct live_recorder){
        .context = sampler,
        .open = open_sampler,
        .start = start,
        .stop = stop,
        .descriptors = descriptors,
        .drain = drain,
        .take = take,
        .end = end,
        .facts = facts,
        .close = close_sampler,
    };
}
