#include "runtime/translator/log/sideband.h"

#include "engine/packets/sideband_layout.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/disk_space.h"
#include "runtime/translator/system.h"

enum { ALIGNMENT = 16 };

/* Space for a record of `size` bytes after its header; NULL: the log is full. */
static struct logged_record *reserve(struct tr_process *process, size_t size)
{
    struct tr_control *control = process->control;
    uint64_t whole = (sizeof(struct logged_record) + size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t at = atomic_fetch_add(&control->log_tail, whole);
    uint8_t *record = process->arena + control->log_offset + at;
    if (at + whole > control->log_size || !tr_is_backed((uint64_t)record, whole)) {
        atomic_fetch_add(&control->lost_records, 1);
        return NULL;
    }
    ((struct logged_record *)record)->size = (uint32_t)whole;
    return (struct logged_record *)record;
}

struct subject {
    struct tr_thread *thread;
    enum logged_kind kind;
    uint64_t time;
    int32_t pid, tid;
};

static struct subject about(struct tr_thread *thread, enum logged_kind kind, uint64_t time)
{
    return (struct subject){thread, kind, time, thread->pid, thread->tid};
}

/* Completes a record that was reserved. `fixed` are the bytes between struct logged_record and the text. */
static void fill(struct logged_record *record, struct subject subject, const void *fixed,
                 size_t fixed_size, const char *text, size_t text_size)
{
    record->kind = (uint16_t)subject.kind;
    record->pid = (uint32_t)subject.pid;
    record->tid = (uint32_t)subject.tid;
    record->serial = subject.thread->serial;
    record->time = subject.time;
    memcpy(record + 1, fixed, fixed_size);
    if (text)
        memcpy((uint8_t *)(record + 1) + fixed_size, text, text_size);
    record->magic = LOGGED_MAGIC;
    atomic_store_explicit(&record->ready, 1, memory_order_release);
}

/* NULL: the recording is over, or the log is full. */
static struct logged_record *begin_record(struct tr_process *process, size_t size)
{
    return atomic_load(&process->control->frozen) ? NULL : reserve(process, size);
}

static void append_bytes(struct subject subject, const void *fixed, size_t fixed_size,
                         const char *text, size_t text_size)
{
    struct logged_record *record = begin_record(subject.thread->process, fixed_size + text_size);
    if (record)
        fill(record, subject, fixed, fixed_size, text, text_size);
}

/* With a text, which may be NULL. */
static void append(struct subject subject, const void *fixed, size_t fixed_size, const char *text)
{
    append_bytes(subject, fixed, fixed_size, text, text ? strlen(text) + 1 : 0);
}

/* Code takes the place of other code at `now`, or a little later. While the clock stands, two threads that replace the same
 * page one after the other would have the same time, or the second one an earlier time: its record would be taken for the
 * older one. */
static uint64_t moment_of_change(struct tr_thread *thread, uint64_t now)
{
    struct tr_process *process = thread->process;
    if (now <= process->newest_code && process->newest_code_by != thread->serial)
        now = thread->hot.last_time = process->newest_code + TR_MOMENT;
    process->newest_code = now;
    process->newest_code_by = thread->serial;
    return now;
}

/* The time is taken when the record has its place: a recorder that knows of something later finds the place, and waits until it
 * is filled. */
void tr_sideband_mapping(struct tr_thread *thread, uint64_t since, const struct tr_mapping *mapping,
                         const char *path)
{
    struct logged_mapping mapped = {
        .start = mapping->start,
        .length = mapping->length,
        .file_offset = mapping->file_offset,
        .inode = mapping->inode,
        .device_major = mapping->device_major,
        .device_minor = mapping->device_minor,
        .protection = mapping->protection,
        .jit = mapping->dumped,
        .version = mapping->version,
        .next_fragment = thread->process->next_fragment,
        .table = thread->process->table ? thread->process->table->serial : UINT32_MAX,
    };
    size_t fixed_size = offsetof(struct logged_mapping, path) - sizeof mapped.record;
    size_t path_size = strlen(path) + 1;
    struct logged_record *record = begin_record(thread->process, fixed_size + path_size);
    uint64_t now = tr_clock_new_moment(thread);
    uint64_t time = since ? since : moment_of_change(thread, now);
    if (record)
        fill(record, about(thread, LOGGED_MAPPING, time), &mapped.record + 1, fixed_size, path,
             path_size);
    thread->new_code = true;
}

void tr_sideband_name(struct tr_thread *thread, uint64_t time, bool exec, const char *name)
{
    uint32_t fixed = exec;
    append(about(thread, LOGGED_NAME, time), &fixed, sizeof fixed, name);
}

static void append_life(struct subject subject, int32_t parent_pid, int32_t parent_tid)
{
    uint32_t fixed[] = {(uint32_t)parent_pid, (uint32_t)parent_tid};
    append(subject, fixed, sizeof fixed, NULL);
}

void tr_sideband_fork(struct tr_thread *thread, uint64_t time, int32_t parent_pid,
                      int32_t parent_tid)
{
    append_life(about(thread, LOGGED_FORK, time), parent_pid, parent_tid);
}

void tr_sideband_exit(struct tr_thread *thread, uint64_t time)
{
    append_life(about(thread, LOGGED_EXIT, time), 0, 0);
}

void tr_sideband_reaped(struct tr_thread *thread, uint64_t time, int32_t child)
{
    struct subject subject = {thread, LOGGED_REAPED, time, child, child};
    append_life(subject, 0, 0);
}

void tr_sideband_death(struct tr_thread *thread, uint64_t time, int signal, uint64_t pc)
{
    struct logged_death record = {.ip = pc, .has_ip = 1, .signal = (uint32_t)signal};
    append(about(thread, LOGGED_DEATH, time), &record.record + 1,
           sizeof record - sizeof record.record, NULL);
}

void tr_sideband_hit(struct tr_thread *thread, uint64_t time, uint64_t pc, uint64_t passed,
                     int64_t argument, bool has_argument)
{
    struct logged_hit record = {
        .ip = pc, .passed = passed, .argument = argument, .has_argument = has_argument};
    append(about(thread, LOGGED_HIT, time), &record.record + 1,
           sizeof record - sizeof record.record, NULL);
}

void tr_sideband_untraced(struct tr_thread *thread, uint64_t time, int32_t pid, uint32_t reason,
                          const char *name, const char *why)
{
    enum { NAME_SIZE = 64, WHY_SIZE = 128 };
    struct subject subject = {thread, LOGGED_UNTRACED, time, pid, pid};
    char texts[NAME_SIZE + WHY_SIZE] = "";
    size_t name_size = strlen(name), why_size = strlen(why);
    if (name_size > NAME_SIZE - 1)
        name_size = NAME_SIZE - 1;
    if (why_size > WHY_SIZE - 1)
        why_size = WHY_SIZE - 1;
    memcpy(texts, name, name_size);
    memcpy(texts + name_size + 1, why, why_size);
    if (pid == thread->pid)
        subject.tid = thread->tid;
    append_bytes(subject, &reason, sizeof reason, texts, name_size + 1 + why_size + 1);
}
