#include "engine/pt/pt_recording.h"

#include "base/memory.h"
#include "base/tsc.h"
#include "engine/kernel_code.h"
#include "engine/pt/extra_events.h"
#include "engine/pt/pt_unit.h"
#include "perf_event/running_process.h"
#include "process/vdso.h"

#include <stdlib.h>

/* The events of perf.data; those of -events follow. */
enum { EVENT_PACKETS, EVENT_SIDEBAND, EVENT_KERNEL_SIDEBAND, EVENT_FIRST_EXTRA };

/* ---- beginning ---- */

static bool open_writer(struct pt_recording *recording, struct error *error)
{
    const struct tracing *tracing = recording->tracing;
    const struct processor_options *wanted = &tracing->options->processor;
    bool user = wanted->scope == TRACE_USER;
    struct raw_perf_data_event events[EVENT_FIRST_EXTRA + EXTRA_EVENTS] = {
        [EVENT_PACKETS] = {tracing->packets.attributes, user ? "intel_pt//u" : "intel_pt//"},
        [EVENT_SIDEBAND] = {tracing->sideband.attributes, "dummy:u"},
        [EVENT_KERNEL_SIDEBAND] = {tracing->kernel_sideband.rings.count
                                       ? tracing->kernel_sideband.attributes
                                       : tracing->sideband.attributes,
                                   "dummy:u"},
    };
    for (size_t i = 0; i < wanted->event_count; i++)
        events[EVENT_FIRST_EXTRA + i] = (struct raw_perf_data_event){
            extra_event_attributes(wanted, &tracing->packets.attributes, &tracing->extras, i),
            wanted->events[i].kind->name};
    char *path = memory_format("%s/perf.data", recording->directory);
    recording->writer =
        raw_perf_data_writer_open(path, events, EVENT_FIRST_EXTRA + wanted->event_count,
                                  tracing->options->magic_trace_command, error);
    free(path);
    return recording->writer != NULL;
}

static bool write_setup(struct pt_recording *recording, struct error *error)
{
    const struct tracing *tracing = recording->tracing;
    struct pt_setup setup = pt_unit_setup(&tracing->unit, &tracing->packets.attributes,
                                          event_ring_at(&tracing->packets, 0)->records.page);
    setup.per_cpu = setup.own_switches = tracing_per_cpu(tracing);
    setup.snapshot = !tracing->options->full_execution;
    recording->clock = setup.clock;
    if (setup.has_clock) {
        struct tsc_anchor now = tsc_anchor_now();
        recording->wall_clock_ns = now.realtime_ns;
        recording->wall_clock_at =
            clock_to_nanoseconds(&setup.clock, (struct ticks){now.tsc}).value;
    }
    return raw_perf_data_write_pt_setup(recording->writer, &setup, tracing->unit.type, error);
}

/* Where the kernel lies, and its code. */
static bool keep_kernel(struct pt_recording *recording, struct error *error)
{
    const struct tracing *tracing = recording->tracing;
    struct kernel_text text;
    if (tracing->options->processor.scope == TRACE_USER)
        return true;
    if (!kernel_text_find(&text, tracing->kernel->proc, error) ||
        !kernel_code_keep(&text, tracing->kernel->proc, recording->directory, error))
        return false;
    const struct sideband_record where = kernel_text_record(&text);
    return raw_perf_data_write_sideband(recording->writer, &where, error);
}

bool pt_recording_begin(struct pt_recording *recording, struct tracing *tracing,
                        const char *directory, const pid_t *pids, size_t pid_count,
                        struct error *error)
{
    *recording = (struct pt_recording){
        .tracing = tracing,
        .directory = directory,
    };
    if (!open_writer(recording, error))
        return false;
    pt_records_begin(&recording->records, tracing, recording->writer);
    event_rings_write_ids(&tracing->packets, recording->writer, EVENT_PACKETS);
    event_rings_write_ids(&tracing->sideband, recording->writer, EVENT_SIDEBAND);
    event_rings_write_ids(&tracing->kernel_sideband, recording->writer, EVENT_KERNEL_SIDEBAND);
    event_rings_write_ids(&tracing->extras, recording->writer, EVENT_FIRST_EXTRA);
    vdso_keep(directory);
    if (write_setup(recording, error) && keep_kernel(recording, error) &&
        (tracing->held ||
         running_processes_write(recording->writer, directory, pids, pid_count, error)) &&
        raw_perf_data_flush(recording->writer, error))
        return true;
    pt_recording_abandon(recording);
    return false;
}

/* ---- packets ---- */

static bool add_area(struct pt_recording *recording, size_t index, struct error *error)
{
    const struct tracing *tracing = recording->tracing;
    const struct event_ring *ring = event_ring_at(&tracing->packets, index);
    struct aux_area *area = array_at(&tracing->areas, index);
    struct aux_bytes bytes = aux_area_take(area);
    if (bytes.size == 0)
        return true;
    struct aux_chunk chunk = {
        .tid = ring->tid,
        .cpu = ring->cpu,
        .index = (uint32_t)index,
        .offset = bytes.offset,
        .reference = {tsc_now()},
    };
    bool ok = raw_perf_data_write_aux(recording->writer, &chunk, bytes.parts,
                                      bytes.parts[1].iov_len ? 2 : 1, error);
    aux_area_release(area);
    recording->bytes += bytes.size;
    return ok;
}

bool pt_recording_add_packets(struct pt_recording *recording, struct error *error)
{
    bool ok = pt_records_write_switches(&recording->records, error);
    for (size_t i = 0; ok && i < recording->tracing->areas.count; i++)
        ok = add_area(recording, i, error);
    return ok;
}

bool pt_recording_drain(struct pt_recording *recording, struct error *error)
{
    return pt_records_drain(&recording->records, error) &&
           (!recording->tracing->options->full_execution ||
            pt_recording_add_packets(recording, error)) &&
           raw_perf_data_flush(recording->writer, error);
}

/* ---- end ---- */

bool pt_recording_end(struct pt_recording *recording, struct error *error)
{
    raw_perf_data_set_times(recording->writer, recording->records.first, recording->records.last);
    bool ok = raw_perf_data_writer_close(recording->writer, error);
    recording->writer = NULL;
    return ok;
}

void pt_recording_abandon(struct pt_recording *recording)
{
    pt_records_free(&recording->records);
    if (!recording->writer)
        return;
    raw_perf_data_writer_abandon(recording->writer);
    recording->writer = NULL;
    kernel_code_remove(recording->directory);
}
