#include "recording/perf_data_writer.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "recording/perf_data_features.h"
#include "recording/perf_file_format.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
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
    struct array record;                      /* bytes of the record being made */
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

/* What every public function returns: whether all went well so far, and if not, why. */
static bool report(const struct perf_data_writer *writer, struct error *error)
{
    if (writer->failed && error)
        *error = writer->failure;
    return !writer->failed;
}

/* ---- one record, built in memory ---- */

static void record_begin(struct perf_data_writer *writer, uint32_t type, uint16_t misc)
{
    writer->record.count = 0;
    struct perf_event_header header = {.type = type, .misc = misc};
    array_add_all(&writer->record, &header, sizeof header);
}

static void add_bytes(struct perf_data_writer *writer, const void *bytes, size_t size)
{
    array_add_all(&writer->record, bytes, size);
}

static void add_u32(struct perf_data_writer *writer, uint32_t value)
{
    add_bytes(writer, &value, sizeof value);
}

static void add_u64(struct perf_data_writer *writer, uint64_t value)
{
    add_bytes(writer, &value, sizeof value);
}

/* At most `limit` bytes including the NUL; then zeros up to a multiple of 8, as the kernel pads. */
static void add_string(struct perf_data_writer *writer, const char *string, size_t limit)
{
    static const char zeros[8];
    size_t length = strnlen(string, limit - 1);
    add_bytes(writer, string, length);
    add_bytes(writer, zeros, 8 - length % 8);
}

/* The sample_id that ends every record of the kernel, fields in the order of enum
 * perf_event_sample_format. */
static void add_sample_id(struct perf_data_writer *writer, uint32_t pid, uint32_t tid,
                          const struct side_band_record *record)
{
    add_u32(writer, pid);
    add_u32(writer, tid);
    add_u64(writer, record->time.value);
    if (writer->attribute.sample_type & PERF_SAMPLE_CPU) {
        add_u32(writer, record->cpu);
        add_u32(writer, 0);
    }
    add_u64(writer, pt_event_id);
}

static bool record_end(struct perf_data_writer *writer)
{
    struct perf_event_header *header = writer->record.elements;
    header->size = (uint16_t)writer->record.count;
    return write_bytes(writer, writer->record.elements, writer->record.count);
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
        attribute->sample_type |= PERF_SAMPLE_CPU;
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
    record_begin(writer, USER_RECORD_AUXTRACE_INFO, 0);
    const struct auxtrace_info_record info = {.type = AUXTRACE_INFO_INTEL_PT};
    add_bytes(writer, &info, sizeof info);
    add_bytes(writer, words, sizeof words);
    return record_end(writer);
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
    array_free(&writer->record);
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
    writer->record = array_of(1);
    fill_attribute(&writer->attribute, setup);
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

/* ---- side-band records ---- */

static void add_mapping(struct perf_data_writer *writer, const struct side_band_record *record)
{
    uint16_t misc = record->mapping.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    if (!record->mapping.executable)
        misc |= PERF_RECORD_MISC_MMAP_DATA;
    record_begin(writer, PERF_RECORD_MMAP2, misc);
    add_u32(writer, record->pid);
    add_u32(writer, record->tid);
    add_u64(writer, record->mapping.start);
    add_u64(writer, record->mapping.length);
    add_u64(writer, record->mapping.file_offset);
    add_u32(writer, record->mapping.device_major);
    add_u32(writer, record->mapping.device_minor);
    add_u64(writer, record->mapping.inode);
    add_u64(writer, 0); /* inode generation */
    add_u32(writer, record->mapping.protection);
    add_u32(writer, record->mapping.flags);
    add_string(writer, record->mapping.path, PATH_MAX);
    add_sample_id(writer, record->pid, record->tid, record);
}

static void add_name(struct perf_data_writer *writer, const struct side_band_record *record)
{
    record_begin(writer, PERF_RECORD_COMM, record->name.exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    add_u32(writer, record->pid);
    add_u32(writer, record->tid);
    add_string(writer, record->name.name, 16); /* TASK_COMM_LEN */
    add_sample_id(writer, record->pid, record->tid, record);
}

static void add_fork_or_exit(struct perf_data_writer *writer, const struct side_band_record *record)
{
    bool fork = record->kind == SIDE_BAND_FORK;
    record_begin(writer, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0);
    add_u32(writer, record->pid);
    add_u32(writer, record->fork.parent_pid);
    add_u32(writer, record->tid);
    add_u32(writer, record->fork.parent_tid);
    add_u64(writer, record->time.value);
    /* The kernel puts there who ran: of a fork the parent. */
    add_sample_id(writer, fork ? record->fork.parent_pid : record->pid,
                  fork ? record->fork.parent_tid : record->tid, record);
}

static void add_trace_start(struct perf_data_writer *writer, const struct side_band_record *record)
{
    record_begin(writer, PERF_RECORD_ITRACE_START, 0);
    add_u32(writer, record->pid);
    add_u32(writer, record->tid);
    add_sample_id(writer, record->pid, record->tid, record);
}

static void add_aux(struct perf_data_writer *writer, const struct side_band_record *record)
{
    record_begin(writer, PERF_RECORD_AUX, 0);
    add_u64(writer, record->aux.offset);
    add_u64(writer, record->aux.size);
    add_u64(writer, record->aux.flags);
    add_sample_id(writer, record->pid, record->tid, record);
}

static void add_lost(struct perf_data_writer *writer, const struct side_band_record *record)
{
    record_begin(writer, PERF_RECORD_LOST, 0);
    add_u64(writer, pt_event_id);
    add_u64(writer, record->lost.count);
    add_sample_id(writer, record->pid, record->tid, record);
}

static void add_context_switch(struct perf_data_writer *writer,
                               const struct side_band_record *record)
{
    uint16_t misc = record->context_switch.out ? PERF_RECORD_MISC_SWITCH_OUT : 0;
    if (writer->setup.per_cpu) {
        record_begin(writer, PERF_RECORD_SWITCH_CPU_WIDE, misc);
        add_u32(writer, record->context_switch.other_pid);
        add_u32(writer, record->context_switch.other_tid);
    } else {
        record_begin(writer, PERF_RECORD_SWITCH, misc);
    }
    add_sample_id(writer, record->pid, record->tid, record);
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

bool perf_data_write_record(struct perf_data_writer *writer, const struct side_band_record *record,
                            struct error *error)
{
    switch (record->kind) {
    case SIDE_BAND_MAPPING:
        add_mapping(writer, record);
        break;
    case SIDE_BAND_NAME:
        add_name(writer, record);
        break;
    case SIDE_BAND_FORK:
    case SIDE_BAND_EXIT:
        add_fork_or_exit(writer, record);
        break;
    case SIDE_BAND_TRACE_START:
        add_trace_start(writer, record);
        break;
    case SIDE_BAND_AUX:
        add_aux(writer, record);
        break;
    case SIDE_BAND_LOST:
        add_lost(writer, record);
        break;
    case SIDE_BAND_CONTEXT_SWITCH:
        add_context_switch(writer, record);
        break;
    }
    note_time(writer, record->time);
    record_end(writer);
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
    record_begin(writer, USER_RECORD_AUXTRACE, 0);
    add_bytes(writer, &auxtrace, sizeof auxtrace);
    record_end(writer);
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
