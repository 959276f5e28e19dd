#include "recording/perf_data/raw_perf_data_writer.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "recording/perf_data/partial_file.h"
#include "recording/perf_data/perf_data_features.h"
#include "recording/perf_data/perf_file_format.h"
#include "recording/perf_data/record_encoder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct raw_perf_data_writer {
    char *path;
    char *temporary_path;
    FILE *file;
    uint64_t position; /* bytes written so far */
    struct file_view mapped;
    int mapped_file; /* descriptor, of `mapped`; -1: no file is a source */
    bool failed;     /* `failure` happened; nothing more is written */
    struct error failure;
    uint64_t attribute_offset;
    uint64_t data_offset; /* where the first record begins; 0: nothing is written yet */

    struct written_event *events;
    size_t event_count;
    char *const *command_line; /* borrowed */
    struct nanoseconds first_time, last_time;
    bool has_packets;            /* there is an AUXTRACE_INFO */
    struct array auxtrace_index; /* struct auxtrace_index_entry */
    struct record_encoder encoder;
};

/* ---- bytes into the file ---- */

static bool fail(struct raw_perf_data_writer *writer, int errnum)
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

static bool write_bytes(struct raw_perf_data_writer *writer, const void *bytes, size_t size)
{
    if (writer->failed)
        return false;
    if (size > 0 && fwrite(bytes, 1, size, writer->file) != size)
        return fail(writer, errno);
    writer->position += size;
    return true;
}

static bool write_zeros(struct raw_perf_data_writer *writer, size_t count)
{
    static const char zeros[8];
    return write_bytes(writer, zeros, count);
}

static bool seek(struct raw_perf_data_writer *writer, uint64_t position)
{
    if (writer->failed)
        return false;
    return fseeko(writer->file, (off_t)position, SEEK_SET) == 0 || fail(writer, errno);
}

/* What every public function returns: whether all went well so far, and if not, why. */
static bool report(const struct raw_perf_data_writer *writer, struct error *error)
{
    if (writer->failed && error)
        *error = writer->failure;
    return !writer->failed;
}

/* ---- what stands before the data ---- */

enum { ATTRIBUTE_ELEMENT_SIZE = ATTRIBUTE_SIZE_WRITTEN + sizeof(struct file_section) };

static void write_ids(struct raw_perf_data_writer *writer, struct written_event *event)
{
    event->id_section =
        (struct file_section){writer->position, event->ids.count * sizeof(uint64_t)};
    write_bytes(writer, event->ids.elements, event->id_section.size);
}

static void write_attributes(struct raw_perf_data_writer *writer)
{
    for (size_t i = 0; i < writer->event_count; i++) {
        write_bytes(writer, &writer->events[i].attribute, ATTRIBUTE_SIZE_WRITTEN);
        write_bytes(writer, &writer->events[i].id_section, sizeof(struct file_section));
    }
}

static uint64_t attributes_size(const struct raw_perf_data_writer *writer)
{
    return writer->event_count * ATTRIBUTE_ELEMENT_SIZE;
}

static struct file_header header_of(const struct raw_perf_data_writer *writer, uint64_t data_size)
{
    return (struct file_header){
        .magic = PERF_FILE_MAGIC,
        .size = sizeof(struct file_header),
        .attribute_size = ATTRIBUTE_ELEMENT_SIZE,
        .attributes = {writer->attribute_offset, attributes_size(writer)},
        .data = {writer->data_offset, data_size},
    };
}

/* Header, the ids that are known by now, attributes. Of a file that is cut off later, all records
 * can then be read (partial_file.h). */
static void begin_data(struct raw_perf_data_writer *writer)
{
    if (writer->data_offset != 0)
        return;
    uint64_t ids = 0;
    for (size_t i = 0; i < writer->event_count; i++)
        ids += writer->events[i].ids.count * sizeof(uint64_t);
    writer->attribute_offset = sizeof(struct file_header) + ids;
    writer->data_offset = writer->attribute_offset + attributes_size(writer);
    const struct file_header header = header_of(writer, 0);
    write_bytes(writer, &header, sizeof header);
    for (size_t i = 0; i < writer->event_count; i++)
        write_ids(writer, &writer->events[i]);
    write_attributes(writer);
}

/* The record that the encoder holds. */
static bool write_encoded(struct raw_perf_data_writer *writer)
{
    const struct array *bytes = record_end(&writer->encoder);
    begin_data(writer);
    return write_bytes(writer, bytes->elements, bytes->count);
}

/* ---- open ---- */

static void take_events(struct raw_perf_data_writer *writer,
                        const struct raw_perf_data_event *events, size_t count)
{
    writer->events = memory_allocate_zeroed(count * sizeof *writer->events);
    writer->event_count = count;
    for (size_t i = 0; i < count; i++) {
        writer->events[i].attribute = events[i].attribute;
        writer->events[i].attribute.size = ATTRIBUTE_SIZE_WRITTEN;
        writer->events[i].name = events[i].name;
        writer->events[i].ids = array_of(sizeof(uint64_t));
    }
}

static void free_writer(struct raw_perf_data_writer *writer)
{
    for (size_t i = 0; i < writer->event_count; i++)
        array_free(&writer->events[i].ids);
    array_free(&writer->auxtrace_index);
    array_free(&writer->encoder.bytes);
    free(writer->events);
    free(writer->temporary_path);
    free(writer->path);
    free(writer);
}

struct raw_perf_data_writer *
raw_perf_data_writer_open(const char *path, const struct raw_perf_data_event *events,
                          size_t event_count, char *const *command_line, struct error *error)
{
    char *temporary_path = memory_format("%s.partial", path);
    int descriptor = file_create_private(temporary_path, error);
    if (descriptor < 0) {
        free(temporary_path);
        return NULL;
    }
    struct raw_perf_data_writer *writer = memory_allocate_zeroed(sizeof *writer);
    writer->path = memory_copy_string(path);
    writer->temporary_path = temporary_path;
    writer->command_line = command_line;
    writer->mapped_file = -1;
    writer->auxtrace_index = array_of(sizeof(struct auxtrace_index_entry));
    take_events(writer, events, event_count);
    writer->encoder = (struct record_encoder){
        .sample_type = events[0].attribute.sample_id_all ? events[0].attribute.sample_type : 0,
        .bytes = array_of(1),
    };
    flock(descriptor, LOCK_EX | LOCK_NB); /* shows that it is being written: partial_file.h */
    writer->file = fdopen(descriptor, "w");
    if (!writer->file) {
        fail(writer, errno);
        close(descriptor);
    }
    if (report(writer, error))
        return writer;
    raw_perf_data_writer_abandon(writer);
    return NULL;
}

void raw_perf_data_add_id(struct raw_perf_data_writer *writer, size_t event, uint64_t id)
{
    struct array *ids = &writer->events[event].ids;
    if (event == 0 && ids->count == 0)
        writer->encoder.event_id = id;
    array_add_all(ids, &id, 1);
}

void raw_perf_data_set_times(struct raw_perf_data_writer *writer, struct nanoseconds first,
                             struct nanoseconds last)
{
    writer->first_time = first;
    writer->last_time = last;
}

uint64_t raw_perf_data_size(const struct raw_perf_data_writer *writer)
{
    return writer->position;
}

/* ---- records ---- */

bool raw_perf_data_write_records(struct raw_perf_data_writer *writer, const void *records,
                                 size_t size, struct error *error)
{
    begin_data(writer);
    write_bytes(writer, records, size);
    return report(writer, error);
}

bool raw_perf_data_write_sideband(struct raw_perf_data_writer *writer,
                                  const struct sideband_record *record, struct error *error)
{
    if (!record_can_be_encoded(record))
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot write %s: records of kind %d are read only", writer->path,
                         (int)record->kind);
    record_encode(&writer->encoder, record);
    write_encoded(writer);
    return report(writer, error);
}

/* ---- packets ---- */

/* perf finds the thread of a ring by them, even where the ring is a thread's and there is no need: then it must not know. */
static uint64_t context_switches_of(const struct raw_perf_data_writer *writer,
                                    const struct pt_setup *setup)
{
    for (size_t i = 0; setup->per_cpu && i < writer->event_count; i++)
        if (writer->events[i].attribute.context_switch)
            return !setup->own_switches ? PT_CONTEXT_SWITCHES_CPU_WIDE : PT_CONTEXT_SWITCHES_OWN;
    return PT_CONTEXT_SWITCHES_NONE;
}

bool raw_perf_data_write_pt_setup(struct raw_perf_data_writer *writer, const struct pt_setup *setup,
                                  uint32_t pmu_type, struct error *error)
{
    const uint64_t words[PT_WORD_COUNT] = {
        [PT_WORD_PMU_TYPE] = pmu_type,
        [PT_WORD_TIME_SHIFT] = setup->clock.shift,
        [PT_WORD_TIME_MULT] = setup->clock.mult,
        [PT_WORD_TIME_ZERO] = setup->clock.zero,
        [PT_WORD_HAS_CLOCK] = setup->has_clock,
        [PT_WORD_TSC_BIT] = setup->tsc_bit,
        [PT_WORD_NO_RETURN_COMPRESSION_BIT] = setup->no_return_compression_bit,
        [PT_WORD_CONTEXT_SWITCHES] = context_switches_of(writer, setup),
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
    writer->has_packets = true;
    writer->encoder.per_cpu = setup->per_cpu;
    record_begin(&writer->encoder, USER_RECORD_AUXTRACE_INFO, 0);
    record_add(&writer->encoder, &info, sizeof info);
    record_add(&writer->encoder, words, sizeof words);
    write_encoded(writer);
    return report(writer, error);
}

void raw_perf_data_set_source(struct raw_perf_data_writer *writer, const struct file_view *mapped,
                              int descriptor)
{
    writer->mapped_file = descriptor;
    writer->mapped = descriptor >= 0 ? *mapped : (struct file_view){0};
}

/* Copies bytes of the mapped file. Returns how many: fewer where the kernel cannot, or is out of space, which writing them
 * then says. */
static uint64_t copy_mapped(struct raw_perf_data_writer *writer, uint64_t from, uint64_t size)
{
    off64_t in = (off64_t)from, out = (off64_t)writer->position;
    ssize_t copied = 1;
    if (fflush(writer->file) != 0)
        return 0;
    while (copied > 0 && (uint64_t)in - from < size)
        copied = copy_file_range(writer->mapped_file, &in, fileno(writer->file), &out,
                                 size - ((uint64_t)in - from), 0);
    uint64_t done = (uint64_t)in - from;
    writer->position += done;
    return seek(writer, writer->position) ? done : 0;
}

static void write_part(struct raw_perf_data_writer *writer, const struct iovec *part)
{
    enum { WORTH_A_CALL = 64 << 10 };
    const uint8_t *bytes = part->iov_base;
    uint64_t size = part->iov_len, copied = 0;
    uint64_t from = (uint64_t)((uintptr_t)bytes - (uintptr_t)writer->mapped.bytes);
    if (size >= WORTH_A_CALL && !writer->failed && from <= writer->mapped.size &&
        size <= writer->mapped.size - from)
        copied = copy_mapped(writer, from, size);
    write_bytes(writer, bytes + copied, size - copied);
}

bool raw_perf_data_write_aux(struct raw_perf_data_writer *writer, const struct aux_chunk *chunk,
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
    begin_data(writer);
    const struct auxtrace_index_entry entry = {writer->position,
                                               sizeof(struct perf_event_header) + sizeof auxtrace};
    array_add_all(&writer->auxtrace_index, &entry, 1);
    record_begin(&writer->encoder, USER_RECORD_AUXTRACE, 0);
    record_add(&writer->encoder, &auxtrace, sizeof auxtrace);
    write_encoded(writer);
    for (size_t i = 0; i < part_count; i++)
        write_part(writer, &parts[i]);
    write_zeros(writer, padding); /* which are PAD packets */
    return report(writer, error);
}

/* ---- what stands after the data, and the header that says where all is ---- */

static bool write_features(struct raw_perf_data_writer *writer, uint64_t *feature_bits)
{
    const struct perf_data_features features = {
        .events = writer->events,
        .event_count = writer->event_count,
        .command_line = writer->command_line,
        .has_packets = writer->has_packets,
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

/* Ids that were added while records were written: the lists of their events are written again, at
 * the end. */
static void write_later_ids(struct raw_perf_data_writer *writer)
{
    for (size_t i = 0; i < writer->event_count; i++) {
        struct written_event *event = &writer->events[i];
        if (event->id_section.size != event->ids.count * sizeof(uint64_t))
            write_ids(writer, event);
    }
}

static void complete(struct raw_perf_data_writer *writer)
{
    begin_data(writer);
    struct file_header header = header_of(writer, writer->position - writer->data_offset);
    write_features(writer, header.features);
    write_later_ids(writer);
    if (seek(writer, 0))
        write_bytes(writer, &header, sizeof header);
    if (seek(writer, writer->attribute_offset))
        write_attributes(writer);
}

/* Also reports errors that only show when the last bytes are flushed. */
static void close_file(struct raw_perf_data_writer *writer)
{
    if (writer->file && fclose(writer->file) != 0 && !writer->failed)
        fail(writer, errno);
    writer->file = NULL;
}

/* A disk that is full has room for what was written until then. Returns whether anything was kept.
 */
static bool keep_what_is_whole(struct raw_perf_data_writer *writer)
{
    int descriptor = open(writer->temporary_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    bool kept = descriptor >= 0 && partial_file_complete(descriptor) &&
                rename(writer->temporary_path, writer->path) == 0;
    if (descriptor >= 0)
        close(descriptor);
    return kept;
}

bool raw_perf_data_writer_close(struct raw_perf_data_writer *writer, struct error *error)
{
    if (!writer->failed)
        complete(writer);
    close_file(writer);
    if (!writer->failed && rename(writer->temporary_path, writer->path) != 0)
        fail(writer, errno);
    bool ok = report(writer, error);
    if (ok)
        free_writer(writer);
    else
        raw_perf_data_writer_abandon(writer);
    return ok;
}

bool raw_perf_data_flush(struct raw_perf_data_writer *writer, struct error *error)
{
    begin_data(writer);
    if (!writer->failed && fflush(writer->file) != 0)
        fail(writer, errno);
    return report(writer, error);
}

bool raw_perf_data_continue(struct raw_perf_data_writer *writer, struct error *error)
{
    uint64_t end = partial_file_end(fileno(writer->file));
    if (end) {
        writer->position = end;
        seek(writer, end);
    }
    return report(writer, error);
}

void raw_perf_data_writer_abandon(struct raw_perf_data_writer *writer)
{
    close_file(writer);
    if (!writer->failed || !keep_what_is_whole(writer))
        unlink(writer->temporary_path);
    free_writer(writer);
}
