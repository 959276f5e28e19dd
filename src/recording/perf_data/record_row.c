#include "recording/perf_data/record_row.h"

#include "base/memory.h"
#include "recording/perf_data/perf_data_setup.h"
#include "recording/perf_data/perf_file_format.h"
#include "recording/perf_data/record_decoder.h"
#include "recording/perf_data/recorded_features.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What follows the record's header. */
static struct byte_cursor body_of(const struct record_row *row, uint64_t offset,
                                  const struct perf_event_header *header)
{
    const uint8_t *begin = row->bytes + offset;
    return (struct byte_cursor){begin + sizeof *header, begin + header->size, false};
}

static void note_too_short(struct record_row *row, uint64_t offset, uint32_t type)
{
    error_set(input_damage(row->input), ERROR_FORMAT,
              "%s is damaged: the record of type %u at offset %" PRIu64
              " is too short for what it should hold. It is left out.",
              row->name, type, offset);
}

static void read_auxtrace_info(struct record_row *row, uint64_t offset, struct byte_cursor body)
{
    struct perf_data_input *input = row->input;
    uint64_t switches;
    struct error why = {0};
    if (pt_setup_decode(&input->data->setup, body.next, cursor_left(&body), &input->events,
                        &switches, &why)) {
        input->data->has_setup = true;
        input->context_switches_sampled = switches == PT_CONTEXT_SWITCHES_SAMPLED;
    } else {
        error_set(input_damage(input), why.code,
                  "%s cannot be decoded, offset %" PRIu64
                  ": %s. Record with perf record -e intel_pt// or with magic-trace.",
                  row->name, offset, why.text);
    }
}

static void read_sideband(struct record_row *row, uint64_t offset,
                          const struct perf_event_header *header, struct byte_cursor body)
{
    struct sideband_record record;
    switch (record_decode(header, body.next, row->input, &record)) {
    case RECORD_DECODED:
        array_add_all(&row->input->records, &record, 1);
        break;
    case RECORD_SKIPPED:
        break;
    case RECORD_DAMAGED:
        note_too_short(row, offset, header->type);
        break;
    }
}

/* ---- records that others follow that are none ---- */

/* How many of the `size` bytes that follow the record at `offset` exist; `begin` is the offset of
 * the first. */
static uint64_t bytes_there(struct record_row *row, uint64_t offset, uint64_t begin, uint64_t size,
                            uint64_t end, const char *what)
{
    if (size <= end - begin)
        return size;
    error_set(input_damage(row->input), ERROR_FORMAT,
              "%s is damaged: the %s record at offset %" PRIu64 " announces %" PRIu64
              " bytes of %s, but only %" PRIu64 " follow. Those are used.",
              row->name, what, offset, size, strcmp(what, "AUXTRACE") == 0 ? "packets" : "formats",
              end - begin);
    return end - begin;
}

/* Takes the packets that follow an AUXTRACE record, as far as they are there. Returns where the
 * next record begins, or `end` when the file ends before that. */
static uint64_t read_chunk(struct record_row *row, uint64_t offset,
                           const struct perf_event_header *header, uint64_t end)
{
    struct auxtrace_record auxtrace;
    memcpy(&auxtrace, row->bytes + offset + sizeof *header, sizeof auxtrace);
    uint64_t begin = offset + header->size;
    uint64_t size = bytes_there(row, offset, begin, auxtrace.size, end, "AUXTRACE");
    if (size > 0) {
        const struct aux_chunk chunk = {
            .tid = auxtrace.tid,
            .cpu = auxtrace.cpu,
            .index = auxtrace.index,
            .offset = auxtrace.offset,
            .reference = {auxtrace.reference ? auxtrace.reference : 1},
            .bytes = row->bytes + begin,
            .size = size,
            .file_offset = begin,
        };
        array_add_all(&row->input->chunks, &chunk, 1);
    }
    return begin + size;
}

static uint64_t read_tracing_data(struct record_row *row, uint64_t offset,
                                  const struct perf_event_header *header, uint64_t end)
{
    struct byte_cursor body = body_of(row, offset, header);
    uint64_t begin = offset + header->size;
    /* Padded to a multiple of 8. */
    uint64_t size = ((uint64_t)cursor_take_u32(&body) + 7) & ~UINT64_C(7);
    size = bytes_there(row, offset, begin, size, end, "HEADER_TRACING_DATA");
    switch_format_find(&row->input->switch_format, row->bytes + begin, size);
    return begin + size;
}

/* ---- compressed records ---- */

static void read_compressed(struct record_row *row, uint64_t offset,
                            const struct perf_event_header *header, struct byte_cursor body)
{
    struct perf_data_input *input = row->input;
    if (header->type == USER_RECORD_COMPRESSED2) {
        uint64_t size = cursor_take_u64(&body);
        if (size < cursor_left(&body))
            body.end = body.next + size;
    }
    struct error why = {0};
    if (row->decompressed)
        error_set(&why, ERROR_FORMAT, "there are compressed records in its compressed records");
    if (row->decompressed ||
        !decompressor_add(&row->decompressor, body.next, cursor_left(&body), &why))
        error_set(why.code == ERROR_UNSUPPORTED ? &input->refusal : input_damage(input), why.code,
                  "%s cannot be read whole, offset %" PRIu64
                  ": %s. What its other records say is used.",
                  row->name, offset, why.text);
}

/* The row of what was compressed in `row`. */
static void read_decompressed(struct record_row *row)
{
    struct array *output = &row->decompressor.output;
    char *name = memory_format("%s (decompressed records)", row->name);
    struct record_row inner = {
        .input = row->input,
        .name = name,
        .bytes = output->elements,
        .end = output->count,
        .decompressed = true,
    };
    record_row_read(&inner, 0);
    free(name);
    perf_data_keep(row->input->data, output->elements);
}

/* ---- the row ---- */

/* The first known chunk after `offset`; the row's end if all are unknown. */
static uint64_t next_known_chunk(struct record_row *row, uint64_t offset)
{
    const struct array *known_chunks = &row->input->known_chunks;
    for (; row->has_known_chunks && row->next_known_chunk < known_chunks->count;
         row->next_known_chunk++) {
        uint64_t known = *(uint64_t *)array_at(known_chunks, row->next_known_chunk);
        if (known > offset)
            return known < row->end ? known : row->end;
    }
    return row->end;
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

static void note_damaged_record(struct record_row *row, uint64_t offset, uint64_t resumed)
{
    if (resumed < row->end)
        error_set(input_damage(row->input), ERROR_FORMAT,
                  "%s is damaged: there is no valid record at offset %" PRIu64
                  ". Reading goes on with the packets at offset %" PRIu64
                  "; what happened in between is not known.",
                  row->name, offset, resumed);
    else
        error_set(input_damage(row->input), ERROR_FORMAT,
                  "%s is damaged or was cut off: there is no whole record at offset %" PRIu64
                  ", %" PRIu64 " bytes before the end. Everything before it is used.",
                  row->name, offset, row->end - offset);
}

/* A record that others follow at once. */
static void read_plain(struct record_row *row, uint64_t offset,
                       const struct perf_event_header *header)
{
    struct byte_cursor body = body_of(row, offset, header);
    switch (header->type) {
    case USER_RECORD_HEADER_ATTRIBUTE:
        if (!perf_data_events_add(&row->input->events, body.next, cursor_left(&body)))
            note_too_short(row, offset, header->type);
        break;
    case USER_RECORD_FEATURE: {
        uint64_t feature = cursor_take_u64(&body);
        recorded_feature_take(row->input, feature, body);
        break;
    }
    case USER_RECORD_BUILD_ID:
        recorded_build_id_take(row->input, header->misc, body);
        break;
    case USER_RECORD_EVENT_UPDATE:
        recorded_event_name_take(row->input, body);
        break;
    case USER_RECORD_AUXTRACE_INFO:
        read_auxtrace_info(row, offset, body);
        break;
    case USER_RECORD_COMPRESSED:
    case USER_RECORD_COMPRESSED2:
        read_compressed(row, offset, header, body);
        break;
    default:
        read_sideband(row, offset, header, body);
        break;
    }
}

/* Reads the record at `offset`; returns where the next one begins. */
static uint64_t read_record(struct record_row *row, uint64_t offset)
{
    uint64_t limit = next_known_chunk(row, offset);
    struct perf_event_header header = {0};
    if (limit - offset >= sizeof header)
        memcpy(&header, row->bytes + offset, sizeof header);
    if (!is_plausible(&header, offset, limit)) {
        note_damaged_record(row, offset, limit);
        return limit;
    }
    switch (header.type) {
    case USER_RECORD_AUXTRACE:
        return read_chunk(row, offset, &header, limit);
    case USER_RECORD_TRACING_DATA:
        return read_tracing_data(row, offset, &header, limit);
    default:
        read_plain(row, offset, &header);
        return offset + header.size;
    }
}

void record_row_read(struct record_row *row, uint64_t offset)
{
    row->decompressor = decompressor_new();
    while (offset < row->end && row->input->refusal.code == ERROR_NONE)
        offset = read_record(row, offset);
    decompressor_end(&row->decompressor);
    if (row->decompressor.output.count > 0)
        read_decompressed(row);
}
