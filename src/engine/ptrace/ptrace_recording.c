#include "engine/ptrace/ptrace_recording.h"

#include "base/memory.h"
#include "engine/pt_packets_setup.h"
#include "process/processes.h"
#include "recording/perf_data/perf_data_writer.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/uio.h>

enum { INSTRUCTIONS_PER_SECOND = 1000000000 };

void ptrace_recording_begin(struct ptrace_recording *recording,
                            const struct record_options *options)
{
    *recording = (struct ptrace_recording){
        .options = options,
        .start = tsc_anchor_now(),
        .steppers = array_of(sizeof(struct stepper *)),
        .hits = array_of(sizeof(struct session_hit)),
    };
    running_processes_begin(&recording->processes, options->directory);
    recording->tsc_hz = options->clock == RECORD_CLOCK_INSTRUCTIONS
                            ? INSTRUCTIONS_PER_SECOND
                            : tsc_measure_rate(&recording->start);
}

void ptrace_recording_free(struct ptrace_recording *recording)
{
    for (size_t i = 0; i < recording->steppers.count; i++) {
        struct stepper *stepper = *(struct stepper **)array_at(&recording->steppers, i);
        stepper_free(stepper);
        free(stepper);
    }
    array_free(&recording->steppers);
    array_free(&recording->hits);
    running_processes_free(&recording->processes);
}

static struct clock_conversion conversion(const struct ptrace_recording *recording)
{
    if (recording->options->clock == RECORD_CLOCK_INSTRUCTIONS)
        return (struct clock_conversion){.mult = 1};
    return tsc_conversion(&recording->start, recording->tsc_hz);
}

static struct nanoseconds to_nanoseconds(const struct ptrace_recording *recording, uint64_t ticks)
{
    struct clock_conversion clock = conversion(recording);
    return clock_to_nanoseconds(&clock, (struct ticks){ticks});
}

void ptrace_recording_add_thread(struct ptrace_recording *recording, pid_t pid, pid_t tid)
{
    running_processes_add_thread(&recording->processes, pid, tid);
}

/* ---- packets ---- */

void ptrace_recording_add_steps(struct ptrace_recording *recording, struct stepper *stepper)
{
    *(struct stepper **)array_add(&recording->steppers) = stepper;
}

void ptrace_recording_add_hit(struct ptrace_recording *recording, const struct session_hit *hit)
{
    *(struct session_hit *)array_add(&recording->hits) = *hit;
}

static uint64_t size_of(const struct stepper *stepper)
{
    return atomic_load(&stepper->encoder.head);
}

/* What the kernel's PMU driver would say: ITRACE_START, AUX. */
static bool write_ring_records(const struct ptrace_recording *recording,
                               const struct stepper *stepper, uint32_t pid,
                               struct perf_data_writer *writer, struct error *error)
{
    struct sideband_record record = {
        .kind = SIDEBAND_TRACE_START,
        .time = to_nanoseconds(recording, stepper->start),
        .pid = pid,
        .tid = (uint32_t)stepper->tid,
        .cpu = UINT32_MAX,
    };
    if (!perf_data_write_record(writer, &record, error))
        return false;
    record.kind = SIDEBAND_AUX;
    record.time = to_nanoseconds(recording, stepper->encoder.last_time);
    record.aux.size = size_of(stepper);
    return perf_data_write_record(writer, &record, error);
}

static bool write_everything(const struct ptrace_recording *recording,
                             struct perf_data_writer *writer, struct error *error)
{
    const struct array *records = &recording->processes.records;
    bool ok = true;
    for (size_t i = 0; ok && i < records->count; i++)
        ok = perf_data_write_record(writer, array_at(records, i), error);
    for (size_t i = 0; ok && i < recording->steppers.count; i++) {
        const struct stepper *stepper = *(struct stepper **)array_at(&recording->steppers, i);
        ok = write_ring_records(recording, stepper, (uint32_t)stepper->code->pid, writer, error);
    }
    for (size_t i = 0; ok && i < recording->steppers.count; i++) {
        const struct stepper *stepper = *(struct stepper **)array_at(&recording->steppers, i);
        struct aux_chunk chunk = {
            .tid = (uint32_t)stepper->tid,
            .cpu = UINT32_MAX,
            .index = (uint32_t)i,
            .reference = {stepper->encoder.last_time ? stepper->encoder.last_time : 1},
        };
        struct iovec part = {stepper->packets, size_of(stepper)};
        ok = perf_data_write_aux(writer, &chunk, &part, 1, error);
    }
    return ok;
}

static bool write_perf_data(const struct ptrace_recording *recording, struct error *error)
{
    struct clock_conversion clock = conversion(recording);
    struct pt_setup setup = pt_packets_setup(&clock, (uint32_t)(recording->tsc_hz / 100000000),
                                             &(struct record_packets){0});
    char *path = memory_format("%s/perf.data", recording->options->directory);
    struct perf_data_writer *writer =
        perf_data_writer_open(path, &setup, recording->options->magic_trace_command, error);
    free(path);
    if (!writer)
        return false;
    if (write_everything(recording, writer, error))
        return perf_data_writer_close(writer, error);
    perf_data_writer_abandon(writer);
    return false;
}

/* ---- session.json ---- */

static bool write_session(struct ptrace_recording *recording, uint64_t instructions,
                          struct error *error)
{
    const struct record_options *options = recording->options;
    char *program = process_executable(options->pids[0]);
    struct session session = {
        .version = MAGIC_TRACE_VERSION,
        .engine = "ptrace",
        .clock = record_clock_name(options->clock),
        .program = program,
        .multi_thread = options->multi_thread,
        .snapshot_size = options->snapshot_size,
        .exit_status = -1,
        .instructions = instructions,
        .trigger = options->trigger.name,
        .hits = recording->hits.elements,
        .hit_count = recording->hits.count,
    };
    if (options->clock != RECORD_CLOCK_INSTRUCTIONS) {
        session.wall_clock_ns = recording->start.realtime_ns;
        session.wall_clock_at = recording->start.monotonic_ns;
    }
    for (size_t i = 0; i < session.hit_count; i++) {
        struct session_hit *hit = &session.hits[i];
        hit->time = to_nanoseconds(recording, hit->time).value;
        if (hit->passed)
            hit->passed = to_nanoseconds(recording, hit->passed).value;
    }
    bool ok = session_write(&session, options->directory, error);
    free(program);
    return ok;
}

bool ptrace_recording_write(struct ptrace_recording *recording, struct record_result *result,
                            struct error *error)
{
    for (size_t i = 0; i < recording->steppers.count; i++) {
        const struct stepper *stepper = *(struct stepper **)array_at(&recording->steppers, i);
        result->instructions += pt_encoder_instructions(&stepper->encoder);
        result->bytes += size_of(stepper);
    }
    return write_perf_data(recording, error) &&
           write_session(recording, result->instructions, error);
}
