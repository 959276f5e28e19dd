#include "recording/perf_data/perf_data_reader.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/number_order.h"
#include "recording/perf_data/perf_data_header.h"
#include "recording/perf_data/perf_file_format.h"
#include "recording/perf_data/record_row.h"
#include "recording/perf_data/recorded_features.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct perf_data_memory {
    struct array views; /* struct file_view; what the records point into */
    struct array kept;  /* void *; likewise, allocated */
};

void perf_data_keep(struct perf_data *data, void *bytes)
{
    *(void **)array_add(&data->memory->kept) = bytes;
}

/* ---- which form ---- */

static bool begins_with(const struct file_view *view, const char *magic)
{
    return view->size >= sizeof(struct pipe_header) && memcmp(view->bytes, magic, 8) == 0;
}

bool perf_data_recognizes(const struct file_view *view)
{
    return begins_with(view, PERF_FILE_MAGIC) || begins_with(view, PERF_FILE_MAGIC_SWAPPED) ||
           begins_with(view, PERF_FILE_MAGIC_OLD);
}

static bool check_magic(const struct file_view *view, const char *path, struct error *error)
{
    if (view->size < sizeof(struct pipe_header))
        return error_set(error, ERROR_FORMAT,
                         "%s is not a perf.data file: it has only %zu bytes. Name a recording's "
                         "folder, a file made by magic-trace or perf record, or text by perf "
                         "script.",
                         path, view->size);
    if (begins_with(view, PERF_FILE_MAGIC_SWAPPED))
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s was recorded on a machine of the other byte order, which has no Intel "
                         "PT. Read it with perf.",
                         path);
    if (begins_with(view, PERF_FILE_MAGIC_OLD))
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s is a perf.data file of the format before Linux 2.6.38, which cannot "
                         "hold Intel PT. Record again with a newer perf.",
                         path);
    if (!begins_with(view, PERF_FILE_MAGIC))
        return error_set(
            error, ERROR_FORMAT,
            "%s is not a perf.data file: it does not begin with " PERF_FILE_MAGIC
            ". Name a recording's folder, a file made by magic-trace or perf record, or text by "
            "perf script.",
            path);
    return true;
}

static bool is_pipe(const struct file_view *view)
{
    struct pipe_header header;
    memcpy(&header, view->bytes, sizeof header);
    return header.size == sizeof header;
}

/* ---- rows ---- */

static void read_row(struct perf_data_input *input, const char *name, const struct file_view *view,
                     uint64_t begin, uint64_t end, bool has_known_chunks)
{
    struct record_row row = {
        .input = input,
        .name = name,
        .bytes = view->bytes,
        .end = end,
        .has_known_chunks = has_known_chunks,
    };
    record_row_read(&row, begin);
}

/* perf record --threads writes data.0, data.1 ... beside the file `data`, which has the header.
 * Each is a row of records and nothing else. */
static void read_other_files(struct perf_data_input *input)
{
    struct perf_data *data = input->data;
    bool more = true;
    for (unsigned i = 0; more && input->refusal.code == ERROR_NONE; i++) {
        char *path = memory_format("%s.%u", data->path, i);
        struct file_view view;
        more = access(path, F_OK) == 0;
        if (!more && i == 0)
            error_set(input_damage(input), ERROR_NOT_FOUND,
                      "%s is one file of a folder written by perf record --threads, but %s is not "
                      "beside it: what it holds is not used. Name the whole folder.",
                      data->path, path);
        if (more && file_map(&view, path, input_damage(input))) {
            array_add_all(&data->memory->views, &view, 1);
            read_row(input, path, &view, 0, view.size, false);
        }
        free(path);
    }
}

/* perf record --aux-sample puts a few packets into each sample instead of into rings. */
static void refuse_sampled_packets(struct perf_data_input *input)
{
    enum { SAMPLE_AUX = 1 << 20 }; /* PERF_SAMPLE_AUX, Linux 5.5 */
    bool sampled = false;
    for (size_t i = 0; i < input->events.events.count; i++) {
        const struct perf_data_event *event = array_at(&input->events.events, i);
        sampled |= (event->attribute.sample_type & SAMPLE_AUX) != 0;
    }
    if (sampled && input->chunks.count == 0)
        error_set(&input->refusal, ERROR_UNSUPPORTED,
                  "%s has its packets in samples (perf record --aux-sample), which cannot be "
                  "decoded yet. Record without --aux-sample.",
                  input->data->path);
}

static bool read_view(struct perf_data_input *input, const struct file_view *view,
                      struct error *error)
{
    const char *path = input->data->path;
    uint64_t begin = sizeof(struct pipe_header), end = view->size;
    if (!check_magic(view, path, error) ||
        (!is_pipe(view) && !perf_data_header_read(input, view, &begin, &end, error)))
        return false;
    read_row(input, path, view, begin, end, true);
    if (input->in_folder && !is_pipe(view))
        read_other_files(input);
    refuse_sampled_packets(input);
    if (input->refusal.code != ERROR_NONE && error)
        *error = input->refusal;
    return input->refusal.code == ERROR_NONE;
}

/* ---- the result ---- */

/* Records of equal times keep their order. */
static struct sideband_record *sort_by_time(const struct array *records)
{
    const struct sideband_record *unsorted = records->elements;
    struct numbered *order = memory_allocate(records->count * sizeof *order);
    for (size_t i = 0; i < records->count; i++)
        order[i] = (struct numbered){unsorted[i].time.value, i};
    number_order(order, records->count);
    struct sideband_record *sorted = memory_allocate(records->count * sizeof *sorted);
    for (size_t i = 0; i < records->count; i++)
        sorted[i] = unsorted[order[i].index];
    free(order);
    return sorted;
}

/* perf names a traced process even with the rings of CPUs, but such a ring holds the packets of
 * every thread that ran there. */
static void forget_threads_of_chunks(const struct array *chunks)
{
    for (size_t i = 0; i < chunks->count; i++)
        ((struct aux_chunk *)array_at(chunks, i))->tid = UINT32_MAX;
}

static void hand_over(struct perf_data_input *input)
{
    struct perf_data *data = input->data;
    if (data->setup.per_cpu)
        forget_threads_of_chunks(&input->chunks);
    if (input->records.count > 0)
        data->records = sort_by_time(&input->records);
    data->record_count = input->records.count;
    data->chunks = input->chunks.elements;
    data->chunk_count = input->chunks.count;
    input->chunks = array_of(sizeof(struct aux_chunk));
    recorded_features_hand_over(input);
}

static struct perf_data_input new_input(struct perf_data *data)
{
    return (struct perf_data_input){
        .data = data,
        .events = perf_data_events_new(),
        .records = array_of(sizeof(struct sideband_record)),
        .chunks = array_of(sizeof(struct aux_chunk)),
        .build_ids = array_of(sizeof(struct recorded_build_id)),
        .known_chunks = array_of(sizeof(uint64_t)),
        .switch_format = switch_format_usual(),
    };
}

static void free_input(struct perf_data_input *input)
{
    perf_data_events_free(&input->events);
    array_free(&input->records);
    array_free(&input->chunks);
    array_free(&input->build_ids);
    array_free(&input->known_chunks);
}

bool perf_data_open_view(struct perf_data *data, struct file_view view, const char *path,
                         struct error *error)
{
    *data = (struct perf_data){.path = memory_copy_string(path)};
    data->memory = memory_allocate_zeroed(sizeof *data->memory);
    data->memory->views = array_of(sizeof(struct file_view));
    data->memory->kept = array_of(sizeof(void *));
    array_add_all(&data->memory->views, &view, 1);
    struct perf_data_input input = new_input(data);
    bool ok = read_view(&input, &view, error);
    if (ok)
        hand_over(&input);
    free_input(&input);
    if (!ok)
        perf_data_close(data);
    return ok;
}

bool perf_data_open(struct perf_data *data, const char *path, struct error *error)
{
    struct file_view view;
    *data = (struct perf_data){0};
    return file_map_input(&view, path, error) && perf_data_open_view(data, view, path, error);
}

static void free_memory(struct perf_data_memory *memory)
{
    for (size_t i = 0; i < memory->views.count; i++)
        file_unmap(array_at(&memory->views, i));
    for (size_t i = 0; i < memory->kept.count; i++)
        free(*(void **)array_at(&memory->kept, i));
    array_free(&memory->views);
    array_free(&memory->kept);
    free(memory);
}

void perf_data_close(struct perf_data *data)
{
    if (data->memory)
        free_memory(data->memory);
    free(data->records);
    free(data->chunks);
    free(data->events);
    free(data->build_ids);
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
