#include "engine/sample/sampler.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/kernel_code.h"
#include "perf_event/perf_clock.h"
#include "perf_event/record_layouts.h"
#include "perf_event/running_process.h"
#include "process/vdso.h"
#include "recording/flags.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* ---- perf.data ---- */

static bool open_writer(struct sampler *sampler, struct error *error)
{
    const struct processor_options *wanted = sampling_processor(&sampler->sampling);
    enum { EVENTS = SAMPLING_FIRST_EXTRA + EXTRA_EVENTS + 1, NAME_SIZE = sizeof sampler->names[0] };
    struct raw_perf_data_event events[EVENTS];
    size_t count = 0;
    struct perf_event_attr samples = sample_event(&sampler->sampling.means, wanted->scope);
    samples.context_switch = 1;
    events[count++] = (struct raw_perf_data_event){
        samples,
        sample_event_name(sampler->names[0], NAME_SIZE,
                          sampler->sampling.means.cycles ? "cycles" : "cpu-clock", wanted->scope)};
    for (size_t i = 0; i < wanted->event_count; i++, count++)
        events[count] = (struct raw_perf_data_event){
            sample_extra_event(&wanted->events[i], wanted->scope),
            sample_event_name(sampler->names[count], NAME_SIZE, wanted->events[i].kind->name,
                              wanted->scope)};
    events[count++] =
        (struct raw_perf_data_event){sampler->sampling.sideband.attributes, "dummy:u"};
    char *path = memory_format("%s/perf.data", sampler->sampling.target->directory);
    sampler->writer = raw_perf_data_writer_open(
        path, events, count, sampler->sampling.target->options->magic_trace_command, error);
    free(path);
    return sampler->writer != NULL;
}

/* The kernel's mapping, which perf requires. */
static bool write_kernel(struct sampler *sampler, struct error *error)
{
    struct kernel_text text;
    if (sampling_processor(&sampler->sampling)->scope == TRACE_USER ||
        !kernel_text_find(&text, sampler->sampling.target->kernel->proc, NULL))
        return true;
    const struct sideband_record where = kernel_text_record(&text);
    return raw_perf_data_write_sideband(sampler->writer, &where, error);
}

/* The names of the kernel's functions; without them it shows as one. */
static void keep_kernel_names(const struct sampler *sampler)
{
    if (sampling_processor(&sampler->sampling)->scope == TRACE_USER)
        return;
    char *from = memory_format("%s/kallsyms", sampler->sampling.target->kernel->proc);
    char *to = memory_format("%s/images/kallsyms", sampler->sampling.target->directory);
    size_t size;
    char *names = file_read(from, &size, NULL);
    if (names)
        file_replace(to, names, size, NULL);
    free(names);
    free(from);
    free(to);
}

static void find_clock(struct sampler *sampler)
{
    struct perf_clock clock;
    if (!perf_clock_read(&clock, sampler->sampling.target->kernel, NULL))
        return;
    sampler->facts.tsc = clock.conversion;
    sampler->facts.wall_clock_ns = clock.wall_clock_ns;
    sampler->facts.wall_clock_at = clock.wall_clock_at;
}

static bool share_positions(struct sampler *sampler, struct error *error)
{
    sampler->taken_size = sampler->sampling.samples.rings.count * sizeof *sampler->taken;
    void *memory =
        mmap(NULL, sampler->taken_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return error_set_errno(error, ERROR_IO, errno, "cannot get memory for the recording");
    sampler->taken = memory;
    return true;
}

static bool open_sampler(void *context, const struct live_target *target, struct error *error)
{
    const struct processor_options *processor = &target->options->processor;
    struct sampler *sampler = context;
    *sampler = (struct sampler){
        .facts.engine = "sample",
    };
    if (!sampling_open(&sampler->sampling, target, error) || !share_positions(sampler, error) ||
        !open_writer(sampler, error))
        return false;
    sampler->facts.callgraph = callgraph_mode_name(sampler->sampling.means.callgraph);
    event_rings_write_ids(&sampler->sampling.samples, sampler->writer, 0);
    event_rings_write_ids(&sampler->sampling.sideband, sampler->writer,
                          SAMPLING_FIRST_EXTRA + processor->event_count);
    find_clock(sampler);
    keep_kernel_names(sampler);
    vdso_keep(target->directory);
    return write_kernel(sampler, error) &&
           (target->held || running_processes_write(sampler->writer, target->directory,
                                                    target->pids, target->pid_count, error)) &&
           raw_perf_data_flush(sampler->writer, error);
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
    event_rings_handle(&sampler->sampling.sideband);
    event_rings_handle(&sampler->sampling.samples);
    return drain_rings(sampler, &sampler->sampling.sideband, error) &&
           (!sampler->sampling.target->options->full_execution ||
            drain_rings(sampler, &sampler->sampling.samples, error)) &&
           raw_perf_data_flush(sampler->writer, error);
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
    for (size_t i = 0; ok && i < sampler->sampling.samples.rings.count; i++) {
        struct perf_ring *ring = &event_ring_at(&sampler->sampling.samples, i)->records;
        if (ring->backward)
            ok = take_ring(sampler, ring, &sampler->taken[i], error);
    }
    return ok && raw_perf_data_flush(sampler->writer, error);
}

/* ---- the rest of what a recorder does ---- */

static void start(void *context)
{
    struct sampler *sampler = context;
    event_rings_control(&sampler->sampling.samples, PERF_EVENT_IOC_ENABLE);
}

static void stop(void *context)
{
    struct sampler *sampler = context;
    event_rings_control(&sampler->sampling.samples, PERF_EVENT_IOC_DISABLE);
}

static void descriptors(void *context, int waited[LIVE_DESCRIPTORS])
{
    const struct sampler *sampler = context;
    waited[0] = sampler->sampling.sideband.descriptor;
    waited[1] = sampler->sampling.samples.descriptor;
}

static int recorded(void *context)
{
    const struct sampler *sampler = context;
    return event_rings_recorded(&sampler->sampling.samples);
}

static bool end(void *context, struct error *error)
{
    struct sampler *sampler = context;
    bool ok = raw_perf_data_writer_close(sampler->writer, error);
    sampler->writer = NULL;
    sampling_close(&sampler->sampling);
    return ok;
}

/* ---- in the process that guards the recording ---- */

static bool map_again(void *context, struct error *error)
{
    struct sampler *sampler = context;
    return event_rings_map_again(&sampler->sampling.sideband, error) &&
           event_rings_map_again(&sampler->sampling.samples, error);
}

static bool go_on(void *context, struct error *error)
{
    struct sampler *sampler = context;
    return raw_perf_data_continue(sampler->writer, error);
}

static void facts(void *context, struct live_facts *reported)
{
    const struct sampler *sampler = context;
    *reported = sampler->facts;
}

static void close_sampler(void *context)
{
    struct sampler *sampler = context;
    if (!sampler->sampling.target)
        return;
    if (sampler->lost > 0)
        log_warning("%llu record(s) were lost, as they came faster than they could be "
                    "written. " FLAG_CALLGRAPH_MODE " fp, " FLAG_TIMER_RESOLUTION
                    " Low or a larger " FLAG_SNAPSHOT_SIZE " may "
                    "help.",
                    (unsigned long long)sampler->lost);
    if (sampler->writer)
        raw_perf_data_writer_abandon(sampler->writer);
    if (sampler->taken)
        munmap(sampler->taken, sampler->taken_size);
    sampling_close(&sampler->sampling);
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
        .recorded = recorded,
        .drain = drain,
        .take = take,
        .end = end,
        .map_again = map_again,
        .go_on = go_on,
        .facts = facts,
        .close = close_sampler,
    };
}
