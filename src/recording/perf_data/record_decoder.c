#include "recording/perf_data/record_decoder.h"

#include "recording/perf_data/byte_cursor.h"
#include "recording/perf_data/sample_decoder.h"

#include <string.h>
#include <sys/mman.h>

/* pid and tid stand first in most records. */
static void take_ids(struct sideband_record *record, struct byte_cursor *cursor)
{
    record->pid = cursor_take_u32(cursor);
    record->tid = cursor_take_u32(cursor);
}

static void take_mapping_start(const struct perf_event_header *header,
                               struct sideband_record *record, struct byte_cursor *cursor)
{
    uint16_t mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    record->kind = SIDEBAND_MAPPING;
    record->mapping.executable = !(header->misc & PERF_RECORD_MISC_MMAP_DATA);
    record->mapping.kernel = mode == PERF_RECORD_MISC_KERNEL;
    take_ids(record, cursor);
    record->mapping.start = cursor_take_u64(cursor);
    record->mapping.length = cursor_take_u64(cursor);
    record->mapping.file_offset = cursor_take_u64(cursor);
}

static void take_mmap(const struct perf_event_header *header, struct sideband_record *record,
                      struct byte_cursor *cursor)
{
    take_mapping_start(header, record, cursor);
    /* The record does not say; the kernel makes it for what can be executed, or else says that it
     * is data. */
    record->mapping.protection = record->mapping.executable ? PROT_READ | PROT_EXEC : PROT_READ;
    record->mapping.path = cursor_take_string(cursor);
}

/* The same 24 bytes hold either the numbers of the file's inode or its build id. */
static void take_file_identity(const struct perf_event_header *header,
                               struct sideband_record *record, struct byte_cursor *cursor)
{
    if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        uint8_t size_and_reserved[4];
        cursor_take(cursor, size_and_reserved, sizeof size_and_reserved);
        cursor_take(cursor, record->mapping.build_id, sizeof record->mapping.build_id);
        if (size_and_reserved[0] <= sizeof record->mapping.build_id)
            record->mapping.build_id_size = size_and_reserved[0];
        return;
    }
    record->mapping.device_major = cursor_take_u32(cursor);
    record->mapping.device_minor = cursor_take_u32(cursor);
    record->mapping.inode = cursor_take_u64(cursor);
    cursor_take_u64(cursor); /* inode generation */
}

static void take_mmap2(const struct perf_event_header *header, struct sideband_record *record,
                       struct byte_cursor *cursor)
{
    take_mapping_start(header, record, cursor);
    take_file_identity(header, record, cursor);
    record->mapping.protection = cursor_take_u32(cursor);
    record->mapping.flags = cursor_take_u32(cursor);
    record->mapping.path = cursor_take_string(cursor);
}

static void take_comm(const struct perf_event_header *header, struct sideband_record *record,
                      struct byte_cursor *cursor)
{
    record->kind = SIDEBAND_NAME;
    take_ids(record, cursor);
    record->name.name = cursor_take_string(cursor);
    record->name.exec = header->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void take_fork_or_exit(const struct perf_event_header *header,
                              struct sideband_record *record, struct byte_cursor *cursor)
{
    record->kind = header->type == PERF_RECORD_FORK ? SIDEBAND_FORK : SIDEBAND_EXIT;
    record->pid = cursor_take_u32(cursor);
    record->fork.parent_pid = cursor_take_u32(cursor);
    record->tid = cursor_take_u32(cursor);
    record->fork.parent_tid = cursor_take_u32(cursor);
    record->time.value = cursor_take_u64(cursor);
}

static void take_aux(struct sideband_record *record, struct byte_cursor *cursor)
{
    record->kind = SIDEBAND_AUX;
    record->aux.offset = cursor_take_u64(cursor);
    record->aux.size = cursor_take_u64(cursor);
    record->aux.flags = cursor_take_u64(cursor);
}

static void take_lost(struct sideband_record *record, struct byte_cursor *cursor)
{
    record->kind = SIDEBAND_LOST;
    cursor_take_u64(cursor); /* id of the event, which does not matter */
    record->lost.count = cursor_take_u64(cursor);
}

static void take_context_switch(const struct perf_event_header *header,
                                struct sideband_record *record, struct byte_cursor *cursor)
{
    record->kind = SIDEBAND_CONTEXT_SWITCH;
    record->context_switch.out = header->misc & PERF_RECORD_MISC_SWITCH_OUT;
    record->context_switch.preempted = header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    if (header->type == PERF_RECORD_SWITCH_CPU_WIDE) {
        record->context_switch.other_pid = cursor_take_u32(cursor);
        record->context_switch.other_tid = cursor_take_u32(cursor);
    }
}

/* Linux 5.1 */
static void take_kernel_symbol(struct sideband_record *record, struct byte_cursor *cursor)
{
    uint16_t type_and_flags[2];
    record->kind = SIDEBAND_KERNEL_SYMBOL;
    record->kernel_symbol.start = cursor_take_u64(cursor);
    record->kernel_symbol.length = cursor_take_u32(cursor);
    cursor_take(cursor, type_and_flags, sizeof type_and_flags);
    record->kernel_symbol.gone = type_and_flags[1] & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
    record->kernel_symbol.name = cursor_take_string(cursor);
}

/* Linux 5.9. The old bytes come first. */
static void take_code_change(struct sideband_record *record, struct byte_cursor *cursor)
{
    uint16_t old_and_new_size[2];
    record->kind = SIDEBAND_CODE_CHANGE;
    record->code_change.address = cursor_take_u64(cursor);
    cursor_take(cursor, old_and_new_size, sizeof old_and_new_size);
    size_t old_size = old_and_new_size[0], new_size = old_and_new_size[1];
    if (old_size + new_size > cursor_left(cursor)) {
        cursor->overrun = true;
        return;
    }
    record->code_change.old_bytes = cursor->next;
    record->code_change.old_size = old_size;
    record->code_change.bytes = cursor->next + old_size;
    record->code_change.size = new_size;
}

/* False for a type that magic-trace does not need. */
static bool take_record(const struct perf_event_header *header, struct sideband_record *record,
                        struct byte_cursor *cursor)
{
    switch (header->type) {
    case PERF_RECORD_MMAP:
        take_mmap(header, record, cursor);
        return true;
    case PERF_RECORD_MMAP2:
        take_mmap2(header, record, cursor);
        return true;
    case PERF_RECORD_COMM:
        take_comm(header, record, cursor);
        return true;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        take_fork_or_exit(header, record, cursor);
        return true;
    case PERF_RECORD_ITRACE_START:
        record->kind = SIDEBAND_TRACE_START;
        take_ids(record, cursor);
        return true;
    case PERF_RECORD_AUX:
        take_aux(record, cursor);
        return true;
    case PERF_RECORD_LOST:
        take_lost(record, cursor);
        return true;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        take_context_switch(header, record, cursor);
        return true;
    case PERF_RECORD_KSYMBOL:
        take_kernel_symbol(record, cursor);
        return true;
    case PERF_RECORD_TEXT_POKE:
        take_code_change(record, cursor);
        return true;
    default:
        return false;
    }
}

/* Such a sample means a context switch: it holds the next thread. */
static bool take_sampled_switch(const struct perf_data_input *input, const struct sample *sample,
                                struct sideband_record *record)
{
    size_t offset = input->switch_format.next_tid;
    if (sample->raw_size < offset + sizeof record->tid)
        return false;
    memcpy(&record->tid, sample->raw + offset, sizeof record->tid);
    record->kind = SIDEBAND_CONTEXT_SWITCH;
    record->pid = record->tid == 0 ? 0 : UINT32_MAX;
    return true;
}

static bool is_switch_event(const struct perf_data_event *event)
{
    return event->name && strcmp(event->name, "sched:sched_switch") == 0;
}

static enum record_outcome decode_sample(const uint8_t *body, size_t size,
                                         struct perf_data_input *input,
                                         struct sideband_record *record)
{
    const struct perf_data_event *event = perf_data_events_of_sample(&input->events, body, size);
    struct sample sample;
    if (!event)
        return RECORD_SKIPPED;
    if (!sample_decode(&event->attribute, body, size, &sample, NULL))
        return RECORD_DAMAGED;
    *record = (struct sideband_record){
        .kind = SIDEBAND_SAMPLE,
        .time = {sample.time},
        .pid = sample.pid,
        .tid = sample.tid,
        .cpu = sample.cpu,
    };
    if (input->context_switches_sampled && is_switch_event(event))
        return take_sampled_switch(input, &sample, record) ? RECORD_DECODED : RECORD_DAMAGED;
    const struct perf_data_event *first = array_at(&input->events.events, 0);
    record->sample.event = (uint32_t)(event - first);
    record->sample.ip = sample.ip;
    record->sample.period = sample.period;
    record->sample.body = body;
    record->sample.size = (uint32_t)size;
    return RECORD_DECODED;
}

/* Only these have a mode; PERF_RECORD_SWITCH and others have flags of their own in its place. */
static bool is_of_guest(const struct perf_event_header *header)
{
    uint16_t mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
    return (header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2 ||
            header->type == PERF_RECORD_SAMPLE) &&
           (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER);
}

enum record_outcome record_decode(const struct perf_event_header *header, const uint8_t *body,
                                  struct perf_data_input *input, struct sideband_record *record)
{
    struct sample_id id;
    size_t size = header->size - sizeof *header;
    if (is_of_guest(header)) {
        input->data->guest_records++;
        return RECORD_SKIPPED;
    }
    if (header->type >= USER_RECORD_HEADER_ATTRIBUTE)
        return RECORD_SKIPPED;
    if (header->type == PERF_RECORD_SAMPLE)
        return decode_sample(body, size, input, record);
    bool has_id = perf_data_events_sample_id(&input->events, body, size, &id);
    /* pid and tid are replaced where the record itself names whom it speaks of. */
    *record =
        (struct sideband_record){.time = {id.time}, .pid = id.pid, .tid = id.tid, .cpu = id.cpu};
    struct byte_cursor cursor = {body, body + size - id.size, false};
    if (!take_record(header, record, &cursor))
        return RECORD_SKIPPED;
    return has_id && !cursor.overrun ? RECORD_DECODED : RECORD_DAMAGED;
}
