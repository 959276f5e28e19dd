/* Builds address spaces from sideband records. Rules, beside those of the header:
 *
 * - A process is known from the first record that names its pid; a thread likewise, and one that
 *   appears only as the owner of an AUX ring is taken for the main thread of a process of its own.
 * - A forked process starts with what its parent had mapped at that moment. The copy holds from the
 *   beginning, because the child's first packets can carry a time just before the record's.
 * - A pid that is forked again is another process that got the same number: what was mapped is
 *   gone. perf makes FORK records without time for processes that already ran
 *   (perf_event__synthesize_fork): they name parents and copy no mappings.
 * - Code of a JIT compiler that wrote a jit-PID.dump is mapped when the dump says so.
 * - A record's time is rounded down to ticks, so that a mapping never comes later than the code
 *   that runs in it. Without a clock in the recording everything holds from the beginning, in the
 *   order of the records.
 */
#include "image/address_space.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/log.h"
#include "base/memory.h"
#include "image/file_table.h"
#include "image/image_search.h"
#include "image/jit_code.h"
#include "image/kernel_changes.h"
#include "image/kernel_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

static const char unknown_name[] = "?";

/* Owns what the read-only result points into. */
struct address_spaces_memory {
    struct arena arena;
    char *directory;
};

struct process_builder {
    uint32_t pid;
    uint32_t parent_pid;
    const char *name;
    bool named_by_main_thread;
    struct array changes; /* of struct address_space_change */
    /* What is mapped at some past change; moved on when the process forks. */
    struct address_space_cursor live;
    uint64_t code_start, code_end; /* of all code that a JIT compiler dumped; empty: none */
    UT_hash_handle hh;
};

struct thread_builder {
    uint32_t tid;
    struct thread thread;
    UT_hash_handle hh;
};

struct builder {
    struct address_spaces *spaces;
    struct arena *arena;
    const struct perf_data *data;
    struct process_builder *processes;
    struct thread_builder *threads;
    struct file_table files;
};

/* perf writes -1 for the kernel and where it does not know. */
static bool is_user_id(uint32_t id)
{
    return id != UINT32_MAX;
}

static struct process_builder *find_process(struct builder *builder, uint32_t pid)
{
    struct process_builder *found;
    HASH_FIND(hh, builder->processes, &pid, sizeof pid, found);
    return found;
}

static struct process_builder *get_process(struct builder *builder, uint32_t pid)
{
    struct process_builder *process = find_process(builder, pid);
    if (process)
        return process;
    process = arena_allocate(builder->arena, sizeof *process);
    *process = (struct process_builder){
        .pid = pid,
        .name = unknown_name,
        .changes = array_of(sizeof(struct address_space_change)),
    };
    HASH_ADD(hh, builder->processes, pid, sizeof pid, process);
    return process;
}

static struct thread *get_thread(struct builder *builder, uint32_t pid, uint32_t tid)
{
    struct thread_builder *found;
    HASH_FIND(hh, builder->threads, &tid, sizeof tid, found);
    if (!found) {
        found = arena_allocate(builder->arena, sizeof *found);
        *found = (struct thread_builder){
            .tid = tid,
            .thread = {.pid = pid, .tid = tid, .name = unknown_name},
        };
        HASH_ADD(hh, builder->threads, tid, sizeof tid, found);
    }
    return &found->thread;
}

static struct ticks ticks_of(const struct builder *builder, struct nanoseconds time)
{
    const struct pt_setup *setup = &builder->data->setup;
    /* Before tick 0, as the clock counts: the time is damaged or not of this clock. */
    bool before_clock = (int64_t)(time.value - setup->clock.zero) < 0;
    if (time.value == 0 || !setup->has_clock || before_clock)
        return (struct ticks){0};
    return clock_to_ticks(&setup->clock, time);
}

static struct ticks time_of(const struct builder *builder, const struct sideband_record *record)
{
    return ticks_of(builder, record->time);
}

/* Changes are kept in ascending time even when a record's time is damaged. */
static struct address_space_change *add_change(struct process_builder *process, struct ticks time,
                                               enum address_space_change_kind kind)
{
    if (process->changes.count > 0) {
        const struct address_space_change *last =
            array_at(&process->changes, process->changes.count - 1);
        if (time.value < last->time.value)
            time = last->time;
    }
    struct address_space_change *change = array_add(&process->changes);
    change->time = time;
    change->kind = kind;
    return change;
}

/* JIT compilers make memory executable repeatedly. That says nothing about the code in it, which
 * the dump records. */
static bool is_memory_of_jit_code(const struct process_builder *process,
                                  const struct mapping *mapping)
{
    return mapping->start < process->code_end && mapping->end > process->code_start &&
           !mapping->file->local_path && image_path_is_anonymous(mapping->file->path);
}

static void add_mapping(struct builder *builder, const struct sideband_record *record)
{
    uint64_t start = record->mapping.start, end;
    if (!record->mapping.executable || record->mapping.kernel || !is_user_id(record->pid) ||
        record->mapping.length == 0 || __builtin_add_overflow(start, record->mapping.length, &end))
        return;
    struct mapping mapping = {
        .start = start,
        .end = end,
        .file_offset = record->mapping.file_offset,
        .file = file_table_get(&builder->files, record),
        .pid = record->pid,
    };
    struct process_builder *process = get_process(builder, record->pid);
    if (!is_memory_of_jit_code(process, &mapping))
        add_change(process, time_of(builder, record), ADDRESS_SPACE_MAP)->mapping = mapping;
}

static void add_name(struct builder *builder, const struct sideband_record *record)
{
    if (!is_user_id(record->pid) || !is_user_id(record->tid))
        return;
    const char *name = file_table_string(&builder->files, record->name.name);
    struct process_builder *process = get_process(builder, record->pid);
    struct thread *thread = get_thread(builder, record->pid, record->tid);
    thread->pid = record->pid;
    thread->name = name;
    bool main_thread = record->tid == record->pid;
    if (main_thread || !process->named_by_main_thread) {
        process->name = name;
        process->named_by_main_thread |= main_thread;
    }
    if (record->name.exec)
        add_change(process, time_of(builder, record), ADDRESS_SPACE_CLEAR);
}

/* Brings the parent's live mappings up to date and gives them to the child. */
static void inherit_mappings(struct process_builder *parent, struct process_builder *child,
                             struct ticks time)
{
    struct process so_far = {
        .changes = parent->changes.elements,
        .change_count = parent->changes.count,
    };
    parent->live.process = &so_far;
    address_space_cursor_advance(&parent->live, (struct ticks){UINT64_MAX});
    parent->live.process = NULL;
    for (size_t i = 0; i < parent->live.mapping_count; i++) {
        struct address_space_change *change = add_change(child, time, ADDRESS_SPACE_MAP);
        change->mapping = parent->live.mappings[i];
        change->mapping.pid = child->pid;
    }
}

static void fork_process(struct builder *builder, const struct sideband_record *record)
{
    struct process_builder *parent = find_process(builder, record->fork.parent_pid);
    struct process_builder *child = get_process(builder, record->pid);
    child->parent_pid = record->fork.parent_pid;
    if (record->time.value == 0 || !parent)
        return;
    struct ticks inherited_at = {0};
    if (child->changes.count > 0) {
        inherited_at = time_of(builder, record);
        add_change(child, inherited_at, ADDRESS_SPACE_CLEAR);
    }
    inherit_mappings(parent, child, inherited_at);
    child->name = parent->name;
}

/* A new thread has its parent thread's name until it gets one of its own (copy_process in
 * kernel/fork.c). */
static void add_fork(struct builder *builder, const struct sideband_record *record)
{
    if (!is_user_id(record->pid) || !is_user_id(record->tid))
        return;
    if (is_user_id(record->fork.parent_pid) && record->fork.parent_pid != record->pid &&
        record->tid == record->pid)
        fork_process(builder, record);
    else
        get_process(builder, record->pid);

    struct thread_builder *parent;
    HASH_FIND(hh, builder->threads, &record->fork.parent_tid, sizeof record->fork.parent_tid,
              parent);
    const char *name = parent ? parent->thread.name : unknown_name;
    struct thread *thread = get_thread(builder, record->pid, record->tid);
    thread->pid = record->pid;
    if (record->time.value != 0 || thread->name == unknown_name)
        thread->name = name;
    thread->created = time_of(builder, record);
    thread->ended = (struct ticks){0}; /* of another thread that had this number */
}

static void add_exit(struct builder *builder, const struct sideband_record *record)
{
    struct thread_builder *found;
    HASH_FIND(hh, builder->threads, &record->tid, sizeof record->tid, found);
    if (found)
        found->thread.ended = time_of(builder, record);
}

static void add_record(struct builder *builder, const struct sideband_record *record)
{
    switch (record->kind) {
    case SIDEBAND_MAPPING:
        add_mapping(builder, record);
        break;
    case SIDEBAND_NAME:
        add_name(builder, record);
        break;
    case SIDEBAND_FORK:
        add_fork(builder, record);
        break;
    case SIDEBAND_TRACE_START:
        if (is_user_id(record->pid) && is_user_id(record->tid)) {
            get_process(builder, record->pid);
            get_thread(builder, record->pid, record->tid);
        }
        break;
    case SIDEBAND_EXIT:
        add_exit(builder, record);
        break;
    case SIDEBAND_AUX:
    case SIDEBAND_LOST:
    case SIDEBAND_CONTEXT_SWITCH:
    case SIDEBAND_SAMPLE:
    case SIDEBAND_KERNEL_SYMBOL:
    case SIDEBAND_CODE_CHANGE:
        break;
    }
}

static void note_jit_code(struct builder *builder, const struct jit_code *code)
{
    struct process_builder *process = get_process(builder, code->pid);
    bool first = process->code_start == process->code_end;
    if (first || code->start < process->code_start)
        process->code_start = code->start;
    if (first || code->end > process->code_end)
        process->code_end = code->end;
}

static void add_jit_code(struct builder *builder, const struct jit_code *code)
{
    struct process_builder *process = get_process(builder, code->pid);
    add_change(process, ticks_of(builder, code->time), ADDRESS_SPACE_MAP)->mapping =
        (struct mapping){
            .start = code->start,
            .end = code->end,
            .file_offset = code->file_offset,
            .file = code->file,
            .pid = code->pid,
        };
}

/* Records, and between them the code of JIT compilers, in the order of time. */
static void add_records(struct builder *builder)
{
    struct array codes = jit_code_find(builder->data, &builder->files);
    size_t next_code = 0;
    for (size_t i = 0; i < codes.count; i++)
        note_jit_code(builder, array_at(&codes, i));
    for (size_t i = 0; i < builder->data->record_count; i++) {
        const struct sideband_record *record = &builder->data->records[i];
        for (; next_code < codes.count; next_code++) {
            const struct jit_code *code = array_at(&codes, next_code);
            if (code->time.value >= record->time.value)
                break;
            add_jit_code(builder, code);
        }
        add_record(builder, record);
    }
    for (; next_code < codes.count; next_code++)
        add_jit_code(builder, array_at(&codes, next_code));
    array_free(&codes);
}

/* Every ring of a thread has its thread, also when the records about it were lost. */
static void add_ring_owners(struct builder *builder)
{
    for (size_t i = 0; i < builder->data->chunk_count; i++) {
        uint32_t tid = builder->data->chunks[i].tid;
        if (is_user_id(tid))
            get_process(builder, get_thread(builder, tid, tid)->pid);
    }
}

/* `pid` UINT32_MAX: unknown. */
static void add_scheduled_thread(struct builder *builder, uint32_t pid, uint32_t tid)
{
    enum { IDLE = 0 };
    if (is_user_id(tid) && tid != IDLE)
        get_process(builder, get_thread(builder, is_user_id(pid) ? pid : tid, tid)->pid);
}

/* A thread that a processor ran exists, even if nothing else is recorded of it. In recordings with
 * packets, samples do not count: they may be of threads that were not traced. */
static void add_scheduled_threads(struct builder *builder)
{
    for (size_t i = 0; i < builder->data->record_count; i++) {
        const struct sideband_record *record = &builder->data->records[i];
        if (record->kind == SIDEBAND_SAMPLE && !builder->data->has_setup)
            add_scheduled_thread(builder, record->pid, record->tid);
        if (record->kind != SIDEBAND_CONTEXT_SWITCH)
            continue;
        add_scheduled_thread(builder, record->pid, record->tid);
        add_scheduled_thread(builder, record->context_switch.other_pid,
                             record->context_switch.other_tid);
    }
}

static int compare_processes(const void *left, const void *right)
{
    const struct process *a = left, *b = right;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_threads(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The kernel's code, and what it changed in it. */
static void add_kernel(struct builder *builder)
{
    struct kernel_space *space = &builder->spaces->kernel;
    if (!builder->data->setup.kernel)
        return;
    kernel_image_find(space, builder->data, builder->spaces->memory->directory, &builder->files,
                      builder->arena);
    if (!builder->data->setup.has_clock)
        return;
    struct array changes = kernel_changes_find(builder->data, space, &builder->files);
    struct process_builder *process, *next;
    HASH_ITER(hh, builder->processes, process, next)
    {
        if (changes.count > 0)
            kernel_changes_add(&process->changes, &changes);
    }
    array_free(&changes);
}

static void finish_processes(struct builder *builder)
{
    struct address_spaces *spaces = builder->spaces;
    spaces->processes = memory_allocate(HASH_COUNT(builder->processes) * sizeof *spaces->processes);
    struct process_builder *process, *next;
    HASH_ITER(hh, builder->processes, process, next)
    {
        address_space_cursor_free(&process->live);
        spaces->processes[spaces->process_count++] = (struct process){
            .pid = process->pid,
            .parent_pid = is_user_id(process->parent_pid) ? process->parent_pid : 0,
            .name = process->name,
            .changes = process->changes.elements,
            .change_count = process->changes.count,
            .kernel = spaces->kernel.mapping_count ? &spaces->kernel : NULL,
        };
    }
    HASH_CLEAR(hh, builder->processes);
    qsort(spaces->processes, spaces->process_count, sizeof *spaces->processes, compare_processes);
}

/* A thread without a name gets that of its process. */
static void finish_threads(struct builder *builder)
{
    struct address_spaces *spaces = builder->spaces;
    spaces->threads = memory_allocate(HASH_COUNT(builder->threads) * sizeof *spaces->threads);
    struct thread_builder *thread, *next;
    HASH_ITER(hh, builder->threads, thread, next)
    {
        const struct process *process = address_spaces_process(spaces, thread->thread.pid);
        if (thread->thread.name == unknown_name && process)
            thread->thread.name = process->name;
        spaces->threads[spaces->thread_count++] = thread->thread;
    }
    HASH_CLEAR(hh, builder->threads);
    qsort(spaces->threads, spaces->thread_count, sizeof *spaces->threads, compare_threads);
}

static bool check_directory(const char *directory, struct error *error)
{
    struct stat status;
    if (!directory || (stat(directory, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    return error_set(
        error, ERROR_NOT_FOUND,
        "cannot look for images in the recording %s: it is not a folder. Give the folder "
        "that holds perf.data.",
        directory);
}

static void warn_about_guests(const struct perf_data *data)
{
    if (data->guest_records > 0)
        log_warning("%zu records of %s are of guests of a virtual machine, which cannot be decoded "
                    "yet: only the host is. Record without guests: perf record -e intel_pt//H.",
                    data->guest_records, data->path ? data->path : "the recording");
}

static bool build(struct address_spaces *spaces, const struct perf_data *data,
                  const char *directory, bool local, struct error *error)
{
    *spaces = (struct address_spaces){0};
    if (!check_directory(directory, error))
        return false;
    spaces->memory = memory_allocate_zeroed(sizeof *spaces->memory);
    spaces->memory->directory = directory ? memory_copy_string(directory) : NULL;
    struct builder builder = {
        .spaces = spaces,
        .arena = &spaces->memory->arena,
        .data = data,
    };
    file_table_begin(&builder.files, builder.arena, directory, data, local);
    warn_about_guests(data);
    add_records(&builder);
    add_ring_owners(&builder);
    add_scheduled_threads(&builder);
    add_kernel(&builder);
    finish_processes(&builder);
    finish_threads(&builder);
    struct array files = file_table_finish(&builder.files);
    spaces->files = files.elements;
    spaces->file_count = files.count;
    return true;
}

bool address_spaces_build(struct address_spaces *spaces, const struct perf_data *data,
                          const char *directory, struct error *error)
{
    return build(spaces, data, directory, false, error);
}

bool address_spaces_build_local(struct address_spaces *spaces, const struct perf_data *data,
                                const char *directory, struct error *error)
{
    return build(spaces, data, directory, true, error);
}

void address_spaces_free(struct address_spaces *spaces)
{
    for (size_t i = 0; i < spaces->process_count; i++)
        free(spaces->processes[i].changes);
    for (size_t i = 0; i < spaces->file_count; i++)
        image_file_close(spaces->files[i]);
    free(spaces->processes);
    free(spaces->threads);
    free(spaces->files);
    free(spaces->kernel.mappings);
    if (spaces->memory) {
        arena_free(&spaces->memory->arena);
        free(spaces->memory->directory);
        free(spaces->memory);
    }
    *spaces = (struct address_spaces){0};
}

const char *address_spaces_directory(const struct address_spaces *spaces)
{
    return spaces->memory ? spaces->memory->directory : NULL;
}
