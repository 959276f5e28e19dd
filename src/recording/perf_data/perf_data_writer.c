#include "recording/perf_data/perf_data_writer.h"

#include "base/memory.h"
#include "recording/perf_data/raw_perf_data_writer.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* The PMU type by which the PT event and AUXTRACE_INFO refer to each other. perf only compares the
 * two, so it need not be this machine's number of intel_pt, which may have none.
 */
enum { PT_PMU_TYPE = 8 };

/* perf leaves out events without an id; which number it is does not matter. */
static const uint64_t pt_event_id = 1;

struct perf_data_writer {
    struct raw_perf_data_writer *raw;
    struct pt_setup setup;
    struct nanoseconds first_time, last_time; /* of all records and chunks that carry one */
};

static struct perf_event_attr attribute_of(const struct pt_setup *setup)
{
    struct perf_event_attr attribute = {
        .type = PT_PMU_TYPE,
        .config = setup->config,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
        .disabled = 1,
        .exclude_kernel = !setup->kernel,
        .exclude_hv = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .context_switch = setup->per_cpu || setup->own_switches,
    };
    if (attribute.context_switch)
        attribute.sample_type |= PERF_SAMPLE_CPU;
    return attribute;
}

struct perf_data_writer *perf_data_writer_open(const char *path, const struct pt_setup *setup,
                                               char *const *command_line, struct error *error)
{
    const struct raw_perf_data_event event = {
        .attribute = attribute_of(setup),
        .name = setup->kernel ? "intel_pt//" : "intel_pt//u",
    };
    struct raw_perf_data_writer *raw =
        raw_perf_data_writer_open(path, &event, 1, command_line, error);
    if (!raw)
        return NULL;
    raw_perf_data_add_id(raw, 0, pt_event_id);
    if (!raw_perf_data_write_pt_setup(raw, setup, PT_PMU_TYPE, error)) {
        raw_perf_data_writer_abandon(raw);
        return NULL;
    }
    struct perf_data_writer *writer = memory_allocate_zeroed(sizeof *writer);
    writer->raw = raw;
    writer->setup = *setup;
    return writer;
}

static void note_time(struct perf_data_writer *writer, struct nanoseconds time)
{
    if (time.value == 0)
        return;
    if (writer->first_time.value == 0 || time.value < writer->first_time.value)
        writer->first_time = time;
    if (time.value > writer->last_time.value)
        writer->last_time = time;
}

bool perf_data_write_record(struct perf_data_writer *writer, const struct sideband_record *record,
                            struct error *error)
{
    note_time(writer, record->time);
    return raw_perf_data_write_sideband(writer->raw, record, error);
}

bool perf_data_write_aux(struct perf_data_writer *writer, const struct aux_chunk *chunk,
                         const struct iovec *parts, size_t part_count, struct error *error)
{
    if (writer->setup.has_clock)
        note_time(writer, clock_to_nanoseconds(&writer->setup.clock, chunk->reference));
    return raw_perf_data_write_aux(writer->raw, chunk, parts, part_count, error);
}

void perf_data_set_source(struct perf_data_writer *writer, const struct file_view *mapped,
                          int descriptor)
{
    raw_perf_data_set_source(writer->raw, mapped, descriptor);
}

bool perf_data_writer_close(struct perf_data_writer *writer, struct error *error)
{
    struct raw_perf_data_writer *raw = writer->raw;
    raw_perf_data_set_times(raw, writer->first_time, writer->last_time);
    free(writer);
    return raw_perf_data_writer_close(raw, error);
}

void perf_data_writer_abandon(struct perf_data_writer *writer)
{
    raw_perf_data_writer_abandon(writer->raw);
    free(writer);
}
