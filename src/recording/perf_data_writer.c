#include "recording/perf_data_writer.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "recording/perf_data_features.h"
#include "recording/perf_file_format.h"
#include "recording/record_encoder.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number under which the PT event and AUXTRACE_INFO find each other. perf compares the two and
 * looks nothing up, so that it need not be this machine's number of intel_pt, which may have none.
 */
enum { PT_PMU_TYPE = 8 };

/* perf leaves out events without an id; which number it is does not matter. */
static const uint64_t pt_event_id = 1;

struct perf_data_writer {
    char *path;
    char *temporary_path;
    FILE *file;
    uint64_t position; /* bytes written so far */
    bool failed;       /* `failure` happened; nothing more is written */
    struct error failure;

    struct pt_setup setup;
    struct perf_event_attr attribute;
    char *const *command_line; /* borrowed */
    uint64_t data_offset;
    struct nanoseconds first_time, last_time; /* of all records and chunks that carry one */
    struct array auxtrace_index;              /* struct auxtrace_index_entry */
    struct record_encoder encoder;
};

/* ---- bytes into the file ---- */

static bool fail(struct perf_data_writer *writer, int errnum)
{
    writer->failed = true;
    if (errnum == ENOSPC || errnum == EDQUOT)
        return error_set(&writer->failure, ERROR_IO,
                         "cannot write the recording %s after %" PRIu64
                         " bytes: the disk is full. Free some space, or record into another folder "
                         "or a smaller snapshot.",
                         writer->path, writer->position);
    return error_set_errno(&writer->failure, ERROR_IO, errnum,
                           "cannot write the recording %s after %" PRIu64 " bytes", writer->path,
                           writer->position);
}

static bool write_bytes(struct perf_data_writer *writer, const void *bytes, size_t size)
{
    if (writer->failed)
        return false;
    if (size > 0 && fwrite(bytes, 1, size, writer->file) != size)
        return fail(writer, errno);
    writer->position += size;
    return true;
}

static bool write_zeros(struct perf_data_writer *writer, size_t count)
{
    static const char zeros[8];
    return write_bytes(writer, zeros, count);
}

/* The record that the encoder holds. */
static bool write_record(struct perf_data_writer *writer)
{
    const struct array *bytes = record_end(&writer->encoder);
    return write_bytes(writer, bytes->elements, bytes->count);
}

/* What every public function returns: whether all went well so far, and if not, why. */
static bool report(const struct perf_data_writer *writer, struct error *error)
{
    if (writer->failed && error)
        *error = writer->failure;
    return !writer->failed;
}

/* ---- what stands before the data ---- */

static void fill_attribute(struct perf_event_attr *attribute, const struct pt_setup *setup)
{
    *attribute = (struct perf_event_attr){
        .type = PT_PMU_TYPE,
        .size = ATTRIBUTE_SIZE_WRITTEN,
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
        .context_switch = setup->per_cpu,
    };
    if (setup->per_cpu)
        attribute->sample_type |= PERF_SAMPLE_CPU; /* the sample id of record_encoder.c */
}

static const struct file_section id_section = {sizeof(struct file_header), sizeof pt_event_id};

static bool write_attribute(struct perf_data_writer *writer)
{
    return write_bytes(writer, &writer->attribute, ATTRIBUTE_SIZE_WRITTEN) &&
           write_bytes(writer, &id_section, sizeof id_section);
}

static bool write_auxtrace_info(struct perf_data_writer *writer)
{
    const struct pt_setup *setup = &writer->setup;
    const uint64_t words[PT_WORD_COUNT] = {
        [PT_WORD_PMU_TYPE] = PT_PMU_TYPE,
        [PT_WORD_TIME_SHIFT] = setup->clock.shift,
        [PT_WORD_TIME_MULT] = setup->clock.mult,
        [PT_WORD_TIME_ZERO] = setup->clock.zero,
        [PT_WORD_HAS_CLOCK] = setup->has_clock,
        [PT_WORD_TSC_BIT] = setup->tsc_bit,
        [PT_WORD_NO_RETURN_COMPRESSION_BIT] = setup->no_return_compression_bit,
        [PT_WORD_CONTEXT_SWITCHES] =
            setup->per_cpu ? PT_CONTEXT_SWITCHES_CPU_WIDE : PT_CONTEXT_SWITCHES_NONE,
        [PT_WORD_SNAPSHOT] = setup->snapshot,
        [PT_WORD_PER_CPU] = setup->per_cpu,
        [PT_WORD_MTC_BIT] = setup->mtc_bit,
        [PT_WORD_MTC_PERIOD_BITS] = setup->mtc_period_bits,
        [PT_WORD_TSC_CTC_NUMERATOR] = setup->tsc_ctc_numerator,
        [PT_WORD_TSC_CTC_DENOMINATOR] = setup->tsc_ctc_denominator,
        [PT_WORD_CYC_BIT] = setup->cyc_bit,
        [PT_WORD_MAX_NONTURBO_RATIO] = setup->max_nonturbo_ratio,
    };
    const struct auxtrace_info_record info = {.type = AUXTRACE_INFO_INTEL_PT};
    record_begin(&writer->encoder, USER_RECORD_AUXTRACE_INFO, 0);
    record_add(&writer->encoder, &info, sizeof info);
    record_add(&writer->encoder, words, sizeof words);
    return write_record(writer);
}

static bool write_start(struct perf_data_writer *writer)
{
    const struct file_header placeholder = {0};
    if (!write_bytes(writer, &placeholder, sizeof placeholder) ||
        !write_bytes(writer, &pt_event_id, sizeof pt_event_id) || !write_attribute(writer))
        return false;
    writer->data_offset = writer->position;
    return write_auxtrace_info(writer);
}

static void free_writer(struct perf_data_writer *writer)
{
    array_free(&writer->auxtrace_index);
    array_free(&writer->encoder.bytes);
    free(writer->temporary_path);
    free(writer->path);
    free(writer);
}

struct perf_data_writer *perf_data_writer_open(const char *path, const struct pt_setup *setup,
                                               char *const *command_line, struct error *error)
{
    char *temporary_path = memory_format("%s.partial", path);
    int descriptor = file_create_private(temporary_path, error);
    if (descriptor < 0) {
        free(temporary_path);
        return NULL;
    }
    struct perf_data_writer *writer = memory_allocate_zeroed(sizeof *writer);
    writer->path = memory_copy_string(path);
    writer->temporary_path = temporary_path;
    writer->setup = *setup;
    writer->command_line = command_line;
    writer->auxtrace_index = array_of(sizeof(struct auxtrace_index_entry));
    fill_attribute(&writer->attribute, setup);
    writer->encoder = (struct record_encoder){
        .event_id = pt_event_id,
        .per_cpu = setup->per_cpu,
        .bytes = array_of(1),
    };
    writer->file = fdopen(descriptor, "w");
    if (!writer->file) {
        fail(writer, errno);
        close(descriptor);
    } else {
        write_start(writer);
    }
    if (report(writer, error))
        return writer;
    perf_data_writer_abandon(writer);
    return NULL;
}

/* ---- records ---- */

static void note_time(struct perf_data_writer *writer, struct nanoseconds time)
{
    if (time.value == 0)
        return;
    if (writer->first_time.value == 0 || time.value < writer->first_time.value)
        writer->first_time = time;
    if (time.value > writer->last_time.value)
        writer->last_time = time;
}

bool perf_data_write_record(struct perf_data_writer *writer, const struct side_band_record *record,
                            struct error *error)
{
    if (!record_can_be_encoded(record))
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot write %s: records of kind %d are read only", writer->path,
                         (int)record->kind);
    record_encode(&writer->encoder, record);
    write_record(writer);
    note_time(writer, record->time);
    return report(writer, error);
}

/* ---- packets ---- */

bool perf_data_write_aux(struct perf_data_writer *writer, const struct aux_chunk *chunk,
                         const struct iovec *parts, size_t part_count, struct error *error)
{
    uint64_t size = 0;
    for (size_t i = 0; i < part_count; i++)
        size += parts[i].iov_len;
    size_t padding = -size % 8;
    const struct auxtrace_record auxtrace = {
        .size = size + padding,
        .offset = chunk->offset,
        /* perf 6.1 crashes on a reference of 0, so none is ever written. */
        .reference = chunk->reference.value ? chunk->reference.value : 1,
        .index = chunk->index,
        .tid = chunk->tid,
        .cpu = chunk->cpu,
    };
    const struct auxtrace_index_entry entry = {writer->position,
                                               sizeof(struct perf_event_header) + sizeof auxtrace};
    array_add_all(&writer->auxtrace_index, &entry, 1);
    if (writer->setup.has_clock)
        note_time(writer, clock_to_nanoseconds(&writer->setup.clock, chunk->reference));
    record_begin(&writer->encoder, USER_RECORD_AUXTRACE, 0);
    record_add(&writer->encoder, &auxtrace, sizeof auxtrace);
    write_record(writer);
    for (size_t i = 0; i < part_count; i++)
        write_bytes(writer, parts[i].iov_base, parts[i].iov_len);
    write_zeros(writer, padding); /* which are PAD packets */
    return report(writer, error);
}

/* ---- what stands after the data, and the header that says where all is ---- */

static bool write_features(struct perf_data_writer *writer, uint64_t *feature_bits)
{
    const struct perf_data_features features = {
        .attribute = &writer->attribute,
        .event_name = writer->setup.kernel ? "intel_pt//" : "intel_pt//u",
        .event_id = pt_event_id,
        .command_line = writer->command_line,
        .auxtrace_index = writer->auxtrace_index.elements,
        .auxtrace_count = writer->auxtrace_index.count,
        .first_time = writer->first_time,
        .last_time = writer->last_time,
    };
    struct array bytes = perf_data_features_encode(&features, writer->position, feature_bits);
    bool ok = write_bytes(writer, bytes.elements, bytes.count);
    array_free(&bytes);
    return ok;
}

static bool write_header(struct perf_data_writer *writer, const struct file_header *header)
{
    if (fseeko(writer->file, 0, SEEK_SET) != 0)
        return fail(writer, errno);
    return write_bytes(writer, header, sizeof *header);
}

static bool complete(struct perf_data_writer *writer)
{
    struct file_header header = {
        .magic = PERF_FILE_MAGIC,
        .size = sizeof header,
        .attribute_size = ATTRIBUTE_SIZE_WRITTEN + sizeof(struct file_section),
        .attributes = {id_section.offset + id_section.size,
                       ATTRIBUTE_SIZE_WRITTEN + sizeof(struct file_section)},
        .data = {writer->data_offset, writer->position - writer->data_offset},
    };
    return write_features(writer, header.features) && write_header(writer, &header);
}

/* Also tells of errors that only show when the last bytes are flushed. */
static void close_file(struct perf_data_writer *writer)
{
    if (writer->file && fclose(writer->file) != 0 && !writer->failed)
        fail(writer, errno);
    writer->file = NULL;
}

bool perf_data_writer_close(struct perf_data_writer *writer, struct error *error)
{
    complete(writer);
    close_file(writer);
    if (!writer->failed && rename(writer->temporary_path, writer->path) != 0)
        fail(writer, errno);
    bool ok = report(writer, error);
    if (ok)
        free_writer(writer);
    else
        perf_data_writer_abandon(writer);
    return ok;
}

void perf_data_writer_abandon(struct perf_data_writer *writer)
{
    close_file(writer);
    unlink(writer->temporary_path);
    free_writer(writer);
}
