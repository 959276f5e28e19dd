#include "recording/perf_data/record_encoder.h"

#include <limits.h>
#include <linux/perf_event.h>
#include <string.h>

void record_begin(struct record_encoder *encoder, uint32_t type, uint16_t misc)
{
    encoder->bytes.count = 0;
    struct perf_event_header header = {.type = type, .misc = misc};
    array_add_all(&encoder->bytes, &header, sizeof header);
}

void record_add(struct record_encoder *encoder, const void *bytes, size_t size)
{
    array_add_all(&encoder->bytes, bytes, size);
}

const struct array *record_end(struct record_encoder *encoder)
{
    struct perf_event_header *header = encoder->bytes.elements;
    header->size = (uint16_t)encoder->bytes.count;
    return &encoder->bytes;
}

static void add_u32(struct record_encoder *encoder, uint32_t value)
{
    record_add(encoder, &value, sizeof value);
}

static void add_u64(struct record_encoder *encoder, uint64_t value)
{
    record_add(encoder, &value, sizeof value);
}

/* At most `limit` bytes including the NUL; then zeros up to a multiple of 8, as the kernel pads. */
static void add_string(struct record_encoder *encoder, const char *string, size_t limit)
{
    static const char zeros[8];
    size_t length = strnlen(string, limit - 1);
    record_add(encoder, string, length);
    record_add(encoder, zeros, 8 - length % 8);
}

/* The sample_id that ends every record of the kernel, fields in the order of enum
 * perf_event_sample_format. */
static void add_sample_id(struct record_encoder *encoder, uint32_t pid, uint32_t tid,
                          const struct sideband_record *record)
{
    uint64_t fields = encoder->sample_type;
    if (fields & PERF_SAMPLE_TID) {
        add_u32(encoder, pid);
        add_u32(encoder, tid);
    }
    if (fields & PERF_SAMPLE_TIME)
        add_u64(encoder, record->time.value);
    if (fields & PERF_SAMPLE_ID)
        add_u64(encoder, encoder->event_id);
    if (fields & PERF_SAMPLE_STREAM_ID)
        add_u64(encoder, encoder->event_id);
    if (fields & PERF_SAMPLE_CPU) {
        add_u32(encoder, record->cpu);
        add_u32(encoder, 0);
    }
    if (fields & PERF_SAMPLE_IDENTIFIER)
        add_u64(encoder, encoder->event_id);
}

static void add_mapping(struct record_encoder *encoder, const struct sideband_record *record)
{
    uint16_t misc = record->mapping.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    if (!record->mapping.executable)
        misc |= PERF_RECORD_MISC_MMAP_DATA;
    record_begin(encoder, PERF_RECORD_MMAP2, misc);
    add_u32(encoder, record->pid);
    add_u32(encoder, record->tid);
    add_u64(encoder, record->mapping.start);
    add_u64(encoder, record->mapping.length);
    add_u64(encoder, record->mapping.file_offset);
    add_u32(encoder, record->mapping.device_major);
    add_u32(encoder, record->mapping.device_minor);
    add_u64(encoder, record->mapping.inode);
    add_u64(encoder, 0); /* inode generation */
    add_u32(encoder, record->mapping.protection);
    add_u32(encoder, record->mapping.flags);
    add_string(encoder, record->mapping.path, PATH_MAX);
    add_sample_id(encoder, record->pid, record->tid, record);
}

static void add_name(struct record_encoder *encoder, const struct sideband_record *record)
{
    record_begin(encoder, PERF_RECORD_COMM, record->name.exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    add_u32(encoder, record->pid);
    add_u32(encoder, record->tid);
    add_string(encoder, record->name.name, 16); /* TASK_COMM_LEN */
    add_sample_id(encoder, record->pid, record->tid, record);
}

static void add_fork_or_exit(struct record_encoder *encoder, const struct sideband_record *record)
{
    bool fork = record->kind == SIDEBAND_FORK;
    record_begin(encoder, fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT, 0);
    add_u32(encoder, record->pid);
    add_u32(encoder, record->fork.parent_pid);
    add_u32(encoder, record->tid);
    add_u32(encoder, record->fork.parent_tid);
    add_u64(encoder, record->time.value);
    /* The kernel puts there who ran: of a fork the parent. */
    add_sample_id(encoder, fork ? record->fork.parent_pid : record->pid,
                  fork ? record->fork.parent_tid : record->tid, record);
}

static void add_trace_start(struct record_encoder *encoder, const struct sideband_record *record)
{
    record_begin(encoder, PERF_RECORD_ITRACE_START, 0);
    add_u32(encoder, record->pid);
    add_u32(encoder, record->tid);
    add_sample_id(encoder, record->pid, record->tid, record);
}

static void add_aux(struct record_encoder *encoder, const struct sideband_record *record)
{
    record_begin(encoder, PERF_RECORD_AUX, 0);
    add_u64(encoder, record->aux.offset);
    add_u64(encoder, record->aux.size);
    add_u64(encoder, record->aux.flags);
    add_sample_id(encoder, record->pid, record->tid, record);
}

static void add_lost(struct record_encoder *encoder, const struct sideband_record *record)
{
    record_begin(encoder, PERF_RECORD_LOST, 0);
    add_u64(encoder, encoder->event_id);
    add_u64(encoder, record->lost.count);
    add_sample_id(encoder, record->pid, record->tid, record);
}

static void add_context_switch(struct record_encoder *encoder, const struct sideband_record *record)
{
    uint16_t misc = record->context_switch.out ? PERF_RECORD_MISC_SWITCH_OUT : 0;
    if (record->context_switch.preempted)
        misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    if (encoder->per_cpu) {
        record_begin(encoder, PERF_RECORD_SWITCH_CPU_WIDE, misc);
        add_u32(encoder, record->context_switch.other_pid);
        add_u32(encoder, record->context_switch.other_tid);
    } else {
        record_begin(encoder, PERF_RECORD_SWITCH, misc);
    }
    add_sample_id(encoder, record->pid, record->tid, record);
}

bool record_can_be_encoded(const struct sideband_record *record)
{
    return record->kind <= SIDEBAND_CONTEXT_SWITCH;
}

void record_encode(struct record_encoder *encoder, const struct sideband_record *record)
{
    switch (record->kind) {
    case SIDEBAND_MAPPING:
        add_mapping(encoder, record);
        break;
    case SIDEBAND_NAME:
        add_name(encoder, record);
        break;
    case SIDEBAND_FORK:
    case SIDEBAND_EXIT:
        add_fork_or_exit(encoder, record);
        break;
    case SIDEBAND_TRACE_START:
        add_trace_start(encoder, record);
        break;
    case SIDEBAND_AUX:
        add_aux(encoder, record);
        break;
    case SIDEBAND_LOST:
        add_lost(encoder, record);
        break;
    case SIDEBAND_CONTEXT_SWITCH:
        add_context_switch(encoder, record);
        break;
    case SIDEBAND_SAMPLE:
    case SIDEBAND_KERNEL_SYMBOL:
    case SIDEBAND_CODE_CHANGE:
        break;
    }
}
