#include "perf_event/running_process.h"

#include "base/file.h"
#include "base/memory.h"
#include "perf_event/foreign_file.h"
#include "process/maps_line.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

enum { LARGEST_KEPT = 256 << 20 };

void running_processes_begin(struct running_processes *processes, const char *directory)
{
    *processes = (struct running_processes){
        .directory = directory,
        .records = array_of(sizeof(struct sideband_record)),
        .pids = array_of(sizeof(pid_t)),
    };
}

void running_processes_free(struct running_processes *processes)
{
    array_free(&processes->records);
    array_free(&processes->pids);
    arena_free(&processes->memory);
}

static struct sideband_record *add_record(struct running_processes *processes,
                                          enum sideband_kind kind, pid_t pid, pid_t tid)
{
    struct sideband_record *record = array_add(&processes->records);
    record->kind = kind;
    /* None, as `perf record` has it: before everything. Any small number may lie before tick 0 of the
     * recording's clock, and perf takes such times for later than all. */
    record->time = (struct nanoseconds){0};
    record->pid = (uint32_t)pid;
    record->tid = (uint32_t)tid;
    record->cpu = UINT32_MAX;
    return record;
}

static void add_name(struct running_processes *processes, pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    char *name = file_read(path, NULL, NULL);
    if (!name)
        return;
    name[strcspn(name, "\n")] = 0;
    add_record(processes, SIDEBAND_NAME, pid, tid)->name.name =
        arena_copy_string(&processes->memory, name);
    free(name);
}

/* Code that is in no file (the vDSO, JIT-compiled code) is copied into the recording as it is now.
 * Returns the path, or NULL. */
static const char *keep_memory(struct running_processes *processes, pid_t pid, uint64_t start,
                               uint64_t size)
{
    if (size > LARGEST_KEPT)
        return NULL;
    uint8_t *bytes = memory_allocate(size);
    struct iovec local = {bytes, size}, remote = {(void *)(uintptr_t)start, size};
    char *path = memory_format("%s/images/memory-%d-%llx", processes->directory, (int)pid,
                               (unsigned long long)start);
    bool is_kept = process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size &&
                   file_replace(path, bytes, size, NULL);
    const char *kept = is_kept ? arena_copy_string(&processes->memory, path) : NULL;
    free(bytes);
    free(path);
    return kept;
}

/* The path to record for a file of code. */
static const char *keep_file(struct running_processes *processes, const struct process_files *files,
                             const char *path, const struct stat *mapped)
{
    char *copy = foreign_file_keep(files, processes->directory, path, mapped);
    if (!copy)
        return path;
    const char *kept = arena_copy_string(&processes->memory, copy);
    free(copy);
    return kept;
}

/* Code alone. `files` is what the process sees. */
static void add_mapping(struct running_processes *processes, pid_t pid,
                        const struct process_files *files, const struct maps_line *line)
{
    const char *path;
    bool of_file = maps_line_is_code_of_file(line);
    if (!(line->protection & PROT_EXEC))
        return;
    if (of_file) {
        const struct stat mapped = {.st_dev = makedev(line->device_major, line->device_minor),
                                    .st_ino = line->inode};
        path = keep_file(processes, files, line->path, &mapped);
    } else {
        path = keep_memory(processes, pid, line->start, line->end - line->start);
    }
    if (!path)
        return;
    struct sideband_record *record = add_record(processes, SIDEBAND_MAPPING, pid, pid);
    record->mapping.start = line->start;
    record->mapping.length = line->end - line->start;
    record->mapping.file_offset = of_file ? line->file_offset : 0;
    record->mapping.inode = line->inode;
    record->mapping.device_major = line->device_major;
    record->mapping.device_minor = line->device_minor;
    record->mapping.protection = PROT_READ | PROT_EXEC;
    record->mapping.flags = MAP_PRIVATE;
    record->mapping.executable = true;
    record->mapping.path = arena_copy_string(&processes->memory, path);
}

static void add_process(struct running_processes *processes, pid_t pid)
{
    for (size_t i = 0; i < processes->pids.count; i++)
        if (*(pid_t *)array_at(&processes->pids, i) == pid)
            return;
    *(pid_t *)array_add(&processes->pids) = pid;
    add_name(processes, pid, pid);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    char *maps = file_read(path, NULL, NULL);
    char *rest = maps;
    struct process_files files = process_files_hold(pid);
    for (struct maps_line line; maps_line_next(&rest, &line);)
        add_mapping(processes, pid, &files, &line);
    process_files_release(&files);
    free(maps);
}

void running_processes_add_thread(struct running_processes *processes, pid_t pid, pid_t tid)
{
    add_process(processes, pid);
    for (size_t i = 0; i < processes->records.count; i++) {
        const struct sideband_record *known = array_at(&processes->records, i);
        if (known->kind == SIDEBAND_NAME && known->tid == (uint32_t)tid)
            return;
    }
    struct sideband_record *birth = add_record(processes, SIDEBAND_FORK, pid, tid);
    birth->fork.parent_pid = birth->fork.parent_tid = (uint32_t)pid;
    add_name(processes, pid, tid);
}

void running_processes_add(struct running_processes *processes, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        int tid = atoi(task->d_name);
        if (tid > 0)
            running_processes_add_thread(processes, pid, tid);
    }
    closedir(tasks);
}

bool running_processes_write(struct raw_perf_data_writer *writer, const char *directory,
                             const pid_t *pids, size_t pid_count, struct error *error)
{
    struct running_processes processes;
    running_processes_begin(&processes, directory);
    for (size_t i = 0; i < pid_count; i++)
        running_processes_add(&processes, pids[i]);
    bool ok = true;
    for (size_t i = 0; ok && i < processes.records.count; i++)
        ok = raw_perf_data_write_sideband(writer, array_at(&processes.records, i), error);
    running_processes_free(&processes);
    return ok;
}
