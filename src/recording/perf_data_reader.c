#include "recording/perf_data_reader.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "recording/byte_cursor.h"
#include "recording/perf_data_events.h"
#include "recording/perf_data_setup.h"
#include "recording/perf_file_format.h"
#include "recording/record_decoder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct perf_data_memory {
    struct file_view view;
};

/* A file while it is read. */
struct reader {
    struct perf_data *data;
    struct file_view view;
    struct file_header header;
    struct perf_data_events events;
    struct array records; /* struct side_band_record */
    struct array chunks;  /* struct aux_chunk */
    /* File offsets (uint64_t, ascending) at which, as the AUXTRACE feature says, AUXTRACE records
     * begin. They are places to go on at when what is before them is damaged. */
    struct array known_chunks;
    size_t next_known_chunk;
    struct error refusal; /* why the file as a whole cannot be read; code ERROR_NONE when it can */
};

/* Where the first damage is to be described; NULL once there is a description. */
static struct error *new_damage(struct reader *reader)
{
    return reader->data->damage.code == ERROR_NONE ? &reader->data->damage : NULL;
}

/* ---- header ---- */

static bool check_magic(const struct file_view *view, const char *path, struct error *error)
{
    const char *magic = (const char *)view->bytes;
    if (view->size < sizeof(struct file_header))
        return error_set(error, ERROR_FORMAT,
                         "%s is not a perf.data file: it has only %zu bytes. Name a recording's "
                         "folder, a file made by magic-trace or perf record, or text by perf "
                         "script.",
                         path, view->size);
    if (memcmp(magic, PERF_FILE_MAGIC_SWAPPED, 8) == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s was recorded on a machine of the other byte order, which has no Intel "
                         "PT. Read it with perf.",
                         path);
    if (memcmp(magic, PERF_FILE_MAGIC_OLD, 8) == 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s is a perf.data file of the format before Linux 2.6.38, which cannot "
                         "hold Intel PT. Record again with a newer perf.",
                         path);
    if (memcmp(magic, PERF_FILE_MAGIC, 8) != 0)
        return error_set(
            error, ERROR_FORMAT,
            "%s is not a perf.data file: it does not begin with " PERF_FILE_MAGIC
            ". Name a recording's folder, a file made by magic-trace or perf record, or text by "
            "perf script.",
            path);
    return true;
}

static bool has_feature(const struct file_header *header, enum feature feature)
{
    return header->features[feature / 64] >> (feature % 64) & 1;
}

static bool check_header(const struct file_header *header, const char *path, struct error *error)
{
    enum { PIPE_HEADER_SIZE = 16 };
    if (header->size == PIPE_HEADER_SIZE)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s was written by perf through a pipe (perf record -o -), which cannot "
                         "be read yet. Record again into a file: perf record -o FILE.",
                         path);
    if (header->size != sizeof *header)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: its header says that it has %" PRIu64
                         " bytes at offset 8, but headers have %zu. Record again.",
                         path, header->size, sizeof *header);
    return true;
}

/* Where the records end: where the header says, or where the file does. False when not even their
 * beginning is in the file. */
static bool find_data_end(struct reader *reader, uint64_t *end, struct error *error)
{
    const struct file_section *section = &reader->header.data;
    const char *path = reader->data->path;
    *end = reader->view.size;
    if (section->offset < sizeof reader->header || section->offset > *end)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: its header says that the records begin at offset %" PRIu64
                         ", but the file has %zu bytes. Record again.",
                         path, section->offset, reader->view.size);
    if (section->size == 0)
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s was not finished: whoever recorded it was killed before the sizes in the "
                  "header were written. What is there is used.",
                  path);
    else if (section->size > *end - section->offset)
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s was cut off: its header announces %" PRIu64
                  " bytes of records at offset %" PRIu64 ", but only %" PRIu64
                  " follow. Those are used.",
                  path, section->size, section->offset, *end - section->offset);
    else
        *end = section->offset + section->size;
    return true;
}

/* ---- features ---- */

/* Where the contents of `feature` lie; false when it is not there or not inside of the file. */
static bool find_feature(struct reader *reader, enum feature feature, struct byte_cursor *contents)
{
    const struct file_header *header = &reader->header;
    const struct file_view *view = &reader->view;
    /* The table of sections stands behind the records, if somebody got to write it. */
    if (!has_feature(header, feature) || header->data.size == 0)
        return false;
    uint64_t entry = header->data.offset + header->data.size; /* of the table of sections */
    for (int bit = 0; bit < (int)feature; bit++)
        entry += has_feature(header, (enum feature)bit) * sizeof(struct file_section);
    struct file_section section = {0};
    bool ok = header->data.size <= view->size && entry <= view->size &&
              view->size - entry >= sizeof section;
    if (ok)
        memcpy(&section, view->bytes + entry, sizeof section);
    if (!ok || section.offset > view->size || section.size > view->size - section.offset) {
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s is damaged: the section of feature %d, named at offset %" PRIu64
                  ", is not in the file. The rest is used.",
                  reader->data->path, (int)feature, entry);
        return false;
    }
    const uint8_t *begin = view->bytes + section.offset;
    *contents = (struct byte_cursor){begin, begin + section.size, false};
    return true;
}

static void read_cpu_identity(struct reader *reader)
{
    struct byte_cursor contents;
    if (!find_feature(reader, FEATURE_CPUID, &contents))
        return;
    size_t size = cursor_take_u32(&contents);
    size = size < cursor_left(&contents) ? size : cursor_left(&contents);
    reader->data->cpu = cpu_identity_parse((const char *)contents.next, size);
}

static bool is_auxtrace_at(const struct file_view *view, uint64_t offset)
{
    struct perf_event_header header;
    if (offset > view->size || view->size - offset < sizeof header)
        return false;
    memcpy(&header, view->bytes + offset, sizeof header);
    return header.type == USER_RECORD_AUXTRACE &&
           header.size >= sizeof header + sizeof(struct auxtrace_record);
}

/* Damaged entries are left out: when the rest is whole, nothing depends on them. */
static void read_known_chunks(struct reader *reader)
{
    struct byte_cursor contents;
    if (!find_feature(reader, FEATURE_AUXTRACE, &contents))
        return;
    cursor_take_u64(&contents); /* how many follow; the section's size says so too */
    uint64_t last = 0;
    while (cursor_left(&contents) >= sizeof(struct auxtrace_index_entry)) {
        struct auxtrace_index_entry entry;
        cursor_take(&contents, &entry, sizeof entry);
        if (entry.file_offset <= last || !is_auxtrace_at(&reader->view, entry.file_offset))
            continue;
        array_add_all(&reader->known_chunks, &entry.file_offset, 1);
        last = entry.file_offset;
    }
}

/* ---- records ---- */

static void read_auxtrace_info(struct reader *reader, uint64_t offset, const uint8_t *body,
                               size_t size)
{
    struct error why = {0};
    if (pt_setup_decode(&reader->data->setup, body, size, &reader->events, &why))
        reader->data->has_setup = true;
    else
        error_set(new_damage(reader), why.code,
                  "%s cannot be decoded, offset %" PRIu64
                  ": %s. Record with perf record -e intel_pt// or with magic-trace.",
                  reader->data->path, offset, why.text);
}

static void read_side_band(struct reader *reader, uint64_t offset,
                           const struct perf_event_header *header, const uint8_t *body)
{
    struct side_band_record record;
    switch (record_decode(header, body, &reader->events, &record)) {
    case RECORD_DECODED:
        array_add_all(&reader->records, &record, 1);
        break;
    case RECORD_SKIPPED:
        break;
    case RECORD_DAMAGED:
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s is damaged: the record of type %u at offset %" PRIu64
                  " is too short for what it should hold. It is left out.",
                  reader->data->path, header->type, offset);
        break;
    }
}

/* Takes the packets that follow an AUXTRACE record, as far as they are there. Returns where the
 * next record begins, or `end` when the file ends before that. */
static uint64_t read_chunk(struct reader *reader, uint64_t offset,
                           const struct perf_event_header *header, uint64_t end)
{
    struct auxtrace_record auxtrace;
    memcpy(&auxtrace, reader->view.bytes + offset + sizeof *header, sizeof auxtrace);
    uint64_t begin = offset + header->size;
    uint64_t size = auxtrace.size;
    if (size > end - begin) {
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s is damaged: the AUXTRACE record at offset %" PRIu64 " announces %" PRIu64
                  " bytes of packets, but only %" PRIu64 " follow. Those are used.",
                  reader->data->path, offset, size, end - begin);
        size = end - begin;
    }
    if (size > 0) {
        const struct aux_chunk chunk = {
            .tid = auxtrace.tid,
            .cpu = auxtrace.cpu,
            .index = auxtrace.index,
            .offset = auxtrace.offset,
            .reference = {auxtrace.reference ? auxtrace.reference : 1},
            .bytes = reader->view.bytes + begin,
            .size = size,
            .file_offset = begin,
        };
        array_add_all(&reader->chunks, &chunk, 1);
    }
    return begin + size;
}

/* The first known chunk after `offset`; `end` when there is none. */
static uint64_t next_known_chunk(struct reader *reader, uint64_t offset, uint64_t end)
{
    for (; reader->next_known_chunk < reader->known_chunks.count; reader->next_known_chunk++) {
        uint64_t known = *(uint64_t *)array_at(&reader->known_chunks, reader->next_known_chunk);
        if (known > offset)
            return known < end ? known : end;
    }
    return end;
}

/* Whether a record can be what its header says, given that the next one begins at `limit` at the
 * latest. */
static bool is_plausible(const struct perf_event_header *header, uint64_t offset, uint64_t limit)
{
    size_t minimum = sizeof *header;
    if (header->type == USER_RECORD_AUXTRACE)
        minimum += sizeof(struct auxtrace_record);
    return header->size >= minimum && header->size <= limit - offset;
}

static void note_damaged_record(struct reader *reader, uint64_t offset, uint64_t resumed,
                                uint64_t end)
{
    if (resumed < end)
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s is damaged: there is no valid record at offset %" PRIu64
                  ". Reading goes on with the packets at offset %" PRIu64
                  "; what happened in between is not known.",
                  reader->data->path, offset, resumed);
    else
        error_set(new_damage(reader), ERROR_FORMAT,
                  "%s is damaged or was cut off: there is no whole record at offset %" PRIu64
                  ", %" PRIu64 " bytes before the end. Everything before it is used.",
                  reader->data->path, offset, end - offset);
}

/* Reads the record at `offset`; returns where the next one begins. */
static uint64_t read_record(struct reader *reader, uint64_t offset, uint64_t end)
{
    uint64_t limit = next_known_chunk(reader, offset, end);
    struct perf_event_header header = {0};
    if (limit - offset >= sizeof header)
        memcpy(&header, reader->view.bytes + offset, sizeof header);
    if (!is_plausible(&header, offset, limit)) {
        note_damaged_record(reader, offset, limit, end);
        return limit;
    }
    const uint8_t *body = reader->view.bytes + offset + sizeof header;
    switch (header.type) {
    case USER_RECORD_AUXTRACE:
        return read_chunk(reader, offset, &header, limit);
    case USER_RECORD_AUXTRACE_INFO:
        read_auxtrace_info(reader, offset, body, header.size - sizeof header);
        break;
    case USER_RECORD_COMPRESSED:
    case USER_RECORD_COMPRESSED2:
        error_set(
            &reader->refusal, ERROR_UNSUPPORTED,
            "%s holds records that perf compressed (perf record -z), the first at offset %" PRIu64
            ", which cannot be read yet. Record again without -z.",
            reader->data->path, offset);
        return end;
    default:
        read_side_band(reader, offset, &header, body);
        break;
    }
    return offset + header.size;
}

static void read_data(struct reader *reader, uint64_t end)
{
    for (uint64_t offset = reader->header.data.offset; offset < end;)
        offset = read_record(reader, offset, end);
}

/* ---- the result ---- */

/* A record and its place in the file, so that sorting by time keeps the order of equal times. */
struct timed_index {
    uint64_t time;
    size_t index;
};

static int compare_times(const void *left, const void *right)
{
    const struct timed_index *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct side_band_record *sort_by_time(const struct array *records)
{
    const struct side_band_record *unsorted = records->elements;
    struct timed_index *order = memory_allocate(records->count * sizeof *order);
    for (size_t i = 0; i < records->count; i++)
        order[i] = (struct timed_index){unsorted[i].time.value, i};
    qsort(order, records->count, sizeof *order, compare_times);
    struct side_band_record *sorted = memory_allocate(records->count * sizeof *sorted);
    for (size_t i = 0; i < records->count; i++)
        sorted[i] = unsorted[order[i].index];
    free(order);
    return sorted;
}

/* perf names a traced process even with the rings of CPUs, but such a ring holds whatever ran
 * there. */
static void forget_threads_of_chunks(const struct array *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        ((struct aux_chunk *)array_at(chunks, i))->tid = UINT32_MAX;
}

static void hand_over(struct reader *reader)
{
    struct perf_data *data = reader->data;
    if (data->setup.per_cpu)
        forget_threads_of_chunks(&reader->chunks);
    if (reader->records.count > 0)
        data->records = sort_by_time(&reader->records);
    data->record_count = reader->records.count;
    data->chunks = reader->chunks.elements;
    data->chunk_count = reader->chunks.count;
    reader->chunks = array_of(sizeof(struct aux_chunk));
}

static bool read_file(struct reader *reader, struct error *error)
{
    const char *path = reader->data->path;
    if (!check_magic(&reader->view, path, error))
        return false;
    memcpy(&reader->header, reader->view.bytes, sizeof reader->header);
    if (!check_header(&reader->header, path, error) ||
        !perf_data_events_read(&reader->events, &reader->view, &reader->header, path, error))
        return false;
    uint64_t end;
    if (!find_data_end(reader, &end, error))
        return false;
    read_cpu_identity(reader);
    read_known_chunks(reader);
    if (has_feature(&reader->header, FEATURE_DIRECTORY_FORMAT))
        error_set(new_damage(reader), ERROR_UNSUPPORTED,
                  "%s is one file of a folder written by perf record --threads; the others cannot "
                  "be read yet. Record again without --threads.",
                  path);
    read_data(reader, end);
    if (reader->refusal.code != ERROR_NONE && error)
        *error = reader->refusal;
    return reader->refusal.code == ERROR_NONE;
}

bool perf_data_open(struct perf_data *data, const char *path, struct error *error)
{
    *data = (struct perf_data){.path = memory_copy_string(path)};
    data->memory = memory_allocate_zeroed(sizeof *data->memory);
    struct reader reader = {
        .data = data,
        .records = array_of(sizeof(struct side_band_record)),
        .chunks = array_of(sizeof(struct aux_chunk)),
        .known_chunks = array_of(sizeof(uint64_t)),
    };
    bool ok = file_map(&data->memory->view, path, error);
    if (ok) {
        reader.view = data->memory->view;
        ok = read_file(&reader, error);
    }
    if (ok)
        hand_over(&reader);
    perf_data_events_free(&reader.events);
    array_free(&reader.records);
    array_free(&reader.chunks);
    array_free(&reader.known_chunks);
    if (!ok)
        perf_data_close(data);
    return ok;
}

void perf_data_close(struct perf_data *data)
{
    if (data->memory)
        file_unmap(&data->memory->view);
    free(data->memory);
    free(data->records);
    free(data->chunks);
    free(data->path);
    *data = (struct perf_data){0};
}

bool perf_data_check_packets(const struct perf_data *data, struct error *error)
{
    if (!data->has_setup)
        return error_set(error, ERROR_FORMAT,
                         "Decoding %s failed: it holds no Intel PT recording. Record with "
                         "`magic-trace run` or `perf record -e intel_pt//`.",
                         data->path);
    if (!data->chunk_count)
        return error_set(error, ERROR_FORMAT,
                         "Decoding %s failed: it holds no packets: the program ended before "
                         "anything was recorded, or the file is cut off.",
                         data->path);
    return true;
}
