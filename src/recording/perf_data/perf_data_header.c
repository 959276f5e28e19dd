#include "recording/perf_data/perf_data_header.h"

#include "recording/perf_data/byte_cursor.h"
#include "recording/perf_data/perf_file_format.h"
#include "recording/perf_data/recorded_features.h"

#include <inttypes.h>
#include <string.h>

static bool check_header(const struct file_view *view, const struct file_header *header,
                         const char *path, struct error *error)
{
    if (view->size < sizeof *header)
        return error_set(
            error, ERROR_FORMAT,
            "%s was cut off: it has only %zu bytes, not even its header. Record again.", path,
            view->size);
    if (header->size != sizeof *header)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: its header says that it has %" PRIu64
                         " bytes at offset 8, but headers have %zu. Record again.",
                         path, header->size, sizeof *header);
    return true;
}

/* The end of the records: the one in the header, or the end of the file. False when even their
 * beginning is missing. */
static bool find_data_end(struct perf_data_input *input, const struct file_view *view,
                          const struct file_section *section, uint64_t *end, struct error *error)
{
    const char *path = input->data->path;
    *end = view->size;
    if (section->offset < sizeof(struct file_header) || section->offset > *end)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: its header says that the records begin at offset %" PRIu64
                         ", but the file has %zu bytes. Record again.",
                         path, section->offset, view->size);
    if (section->size == 0)
        error_set(input_damage(input), ERROR_FORMAT,
                  "%s was not finished: whoever recorded it was killed before the sizes in the "
                  "header were written. What is there is used.",
                  path);
    else if (section->size > *end - section->offset)
        error_set(input_damage(input), ERROR_FORMAT,
                  "%s was cut off: its header announces %" PRIu64
                  " bytes of records at offset %" PRIu64 ", but only %" PRIu64
                  " follow. Those are used.",
                  path, section->size, section->offset, *end - section->offset);
    else
        *end = section->offset + section->size;
    return true;
}

/* ---- features ---- */

static bool is_auxtrace_at(const struct file_view *view, uint64_t offset)
{
    struct perf_event_header header;
    if (offset > view->size || view->size - offset < sizeof header)
        return false;
    memcpy(&header, view->bytes + offset, sizeof header);
    return header.type == USER_RECORD_AUXTRACE &&
           header.size >= sizeof header + sizeof(struct auxtrace_record);
}

/* Damaged entries are left out: the reader does not need them when the rest is intact. */
static void take_known_chunks(struct perf_data_input *input, const struct file_view *view,
                              struct byte_cursor contents)
{
    cursor_take_u64(&contents); /* how many follow; the section's size says so too */
    uint64_t last = 0;
    while (cursor_left(&contents) >= sizeof(struct auxtrace_index_entry)) {
        struct auxtrace_index_entry entry;
        cursor_take(&contents, &entry, sizeof entry);
        if (entry.file_offset <= last || !is_auxtrace_at(view, entry.file_offset))
            continue;
        array_add_all(&input->known_chunks, &entry.file_offset, 1);
        last = entry.file_offset;
    }
}

/* The feature whose section is described at `entry`. */
static void read_feature(struct perf_data_input *input, const struct file_view *view,
                         enum feature feature, uint64_t entry)
{
    struct file_section section = {0};
    bool ok = entry <= view->size && view->size - entry >= sizeof section;
    if (ok)
        memcpy(&section, view->bytes + entry, sizeof section);
    if (!ok || section.offset > view->size || section.size > view->size - section.offset) {
        error_set(input_damage(input), ERROR_FORMAT,
                  "%s is damaged: the section of feature %d, named at offset %" PRIu64
                  ", is not in the file. The rest is used.",
                  input->data->path, (int)feature, entry);
        return;
    }
    const uint8_t *begin = view->bytes + section.offset;
    const struct byte_cursor contents = {begin, begin + section.size, false};
    if (feature == FEATURE_AUXTRACE)
        take_known_chunks(input, view, contents);
    else
        recorded_feature_take(input, feature, contents);
}

/* The table of sections follows the records, if the recorder finished the file. */
static void read_features(struct perf_data_input *input, const struct file_view *view,
                          const struct file_header *header)
{
    uint64_t entry = header->data.offset + header->data.size;
    if (header->data.size == 0 || header->data.size > view->size || entry > view->size)
        return;
    for (int bit = 0; bit < FEATURE_BITS; bit++) {
        if (!(header->features[bit / 64] >> (bit % 64) & 1))
            continue;
        read_feature(input, view, (enum feature)bit, entry);
        entry += sizeof(struct file_section);
    }
}

bool perf_data_header_read(struct perf_data_input *input, const struct file_view *view,
                           uint64_t *begin, uint64_t *end, struct error *error)
{
    const char *path = input->data->path;
    struct file_header header = {.size = 0};
    memcpy(&header, view->bytes, view->size < sizeof header ? view->size : sizeof header);
    if (!check_header(view, &header, path, error) ||
        !perf_data_events_read(&input->events, view, &header, path, error) ||
        !find_data_end(input, view, &header.data, end, error))
        return false;
    *begin = header.data.offset;
    read_features(input, view, &header);
    return true;
}
