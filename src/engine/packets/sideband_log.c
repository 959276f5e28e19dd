#include "engine/packets/sideband_log.h"

#include "engine/packets/kept_parts.h"

#include "base/memory.h"
#include "engine/packets/kept_files.h"
#include "recording/flags.h"
#include "recording/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <uthash.h>

/* Processes and threads share one space of numbers, as in the kernel. */
struct task_number {
    uint32_t machine;
    uint32_t recording;
    UT_hash_handle hh;
};

void sideband_log_begin(struct sideband_log *log, const char *directory,
                        const struct clock_conversion *clock, bool renumber)
{
    *log = (struct sideband_log){
        .directory = directory,
        .clock = *clock,
        .renumber = renumber,
        .records = array_of(sizeof(struct sideband_record)),
        .untraced = array_of(sizeof(struct session_untraced)),
        .deaths = array_of(sizeof(struct session_death)),
        .hits = array_of(sizeof(struct session_hit)),
        .kept = array_of(sizeof(struct kept_part)),
        .reaped = array_of(sizeof(struct reaped_process)),
    };
}

void sideband_log_free(struct sideband_log *log)
{
    struct task_number *number, *next;
    HASH_ITER(hh, log->numbers, number, next)
    {
        HASH_DEL(log->numbers, number);
        free(number);
    }
    array_free(&log->records);
    array_free(&log->untraced);
    array_free(&log->deaths);
    array_free(&log->hits);
    array_free(&log->kept);
    array_free(&log->reaped);
}

uint32_t sideband_log_number(struct sideband_log *log, uint32_t number)
{
    if (!log->renumber)
        return number;
    struct task_number *known;
    HASH_FIND(hh, log->numbers, &number, sizeof number, known);
    if (!known) {
        known = memory_allocate_zeroed(sizeof *known);
        known->machine = number;
        known->recording = HASH_COUNT(log->numbers) + 1;
        HASH_ADD(hh, log->numbers, machine, sizeof known->machine, known);
    }
    return known->recording;
}

/* A parent that is not part of the recording (magic-trace itself) gets no number. */
static uint32_t parent_number(struct sideband_log *log, uint32_t number)
{
    struct task_number *known;
    if (!log->renumber)
        return number;
    HASH_FIND(hh, log->numbers, &number, sizeof number, known);
    return known ? known->recording : 0;
}

static struct sideband_record *add(struct sideband_log *log, enum sideband_kind kind,
                                   const struct logged_record *record)
{
    struct sideband_record *added = array_add(&log->records);
    added->kind = kind;
    added->time = clock_to_nanoseconds(&log->clock, (struct ticks){record->time});
    added->pid = sideband_log_number(log, record->pid);
    added->tid = sideband_log_number(log, record->tid);
    added->cpu = UINT32_MAX;
    return added;
}

static void add_mapping(struct sideband_log *log, const struct logged_mapping *mapping)
{
    struct sideband_record *added = add(log, SIDEBAND_MAPPING, &mapping->record);
    added->mapping.start = mapping->start;
    added->mapping.length = mapping->length;
    added->mapping.file_offset = mapping->file_offset;
    added->mapping.inode = mapping->inode;
    added->mapping.device_major = mapping->device_major;
    added->mapping.device_minor = mapping->device_minor;
    added->mapping.protection = mapping->protection;
    added->mapping.flags = MAP_PRIVATE;
    added->mapping.executable = true;
    if (!mapping->jit) {
        char *kept = (mapping->foreign ? kept_files_foreign_path : kept_files_path)(
            log->directory, mapping->path, mapping->version);
        added->mapping.path = arena_copy_string(&log->memory, kept ? kept : mapping->path);
        free(kept);
        return;
    }
    size_t size = strlen(log->directory) + 1 + strlen(mapping->path) + 1;
    char *path = arena_allocate(&log->memory, size);
    snprintf(path, size, "%s/%s", log->directory, mapping->path);
    added->mapping.path = path;
}

static void add_name(struct sideband_log *log, const struct logged_name *name)
{
    struct sideband_record *added = add(log, SIDEBAND_NAME, &name->record);
    added->name.name = arena_copy_string(&log->memory, name->name);
    added->name.exec = name->exec != 0;
}

static void add_life(struct sideband_log *log, enum sideband_kind kind,
                     const struct logged_fork *life)
{
    struct sideband_record *added = add(log, kind, &life->record);
    added->fork.parent_pid = parent_number(log, life->parent_pid);
    added->fork.parent_tid = parent_number(log, life->parent_tid);
}

static void add_death(struct sideband_log *log, const struct logged_death *death)
{
    *(struct session_death *)array_add(&log->deaths) = (struct session_death){
        .time = clock_to_nanoseconds(&log->clock, (struct ticks){death->record.time}).value,
        .address = death->ip,
        .has_address = death->has_ip != 0,
        .signal = death->signal,
        .pid = sideband_log_number(log, death->record.pid),
        .tid = sideband_log_number(log, death->record.tid),
    };
}

static uint64_t to_nanoseconds(const struct sideband_log *log, uint64_t ticks)
{
    return clock_to_nanoseconds(&log->clock, (struct ticks){ticks}).value;
}

static void add_hit(struct sideband_log *log, const struct logged_hit *hit)
{
    *(struct session_hit *)array_add(&log->hits) = (struct session_hit){
        .time = to_nanoseconds(log, hit->record.time),
        .passed = hit->passed ? to_nanoseconds(log, hit->passed) : 0,
        .argument = hit->argument,
        .has_argument = hit->has_argument != 0,
        .address = hit->ip,
        .pid = sideband_log_number(log, hit->record.pid),
        .tid = sideband_log_number(log, hit->record.tid),
    };
}

static void add_kept(struct sideband_log *log, const struct logged_kept *kept)
{
    *(struct kept_part *)array_add(&log->kept) =
        (struct kept_part){kept->record.serial, kept->begin, kept->end};
}

static const char *flag_that_shows(uint32_t reason)
{
    switch (reason) {
    case UNTRACED_THREAD:
        return FLAG_MULTI_THREAD;
    case UNTRACED_PROCESS:
        return FLAG_FOLLOW;
    default:
        return NULL;
    }
}

static struct session_untraced *find_untraced(struct sideband_log *log, uint32_t pid,
                                              const char *flag)
{
    for (size_t i = 0; i < log->untraced.count; i++) {
        struct session_untraced *known = array_at(&log->untraced, i);
        /* The flags are constants: the same flag is the same pointer. */
        if (known->pid == pid && known->flag == flag)
            return known;
    }
    return NULL;
}

/* A process is one entry per flag. Threads are counted; what a process became by execve replaces
 * the name that it was forked with. */
/* The record's second string; NULL if not found. */
static const char *cause_of(const struct logged_untraced *untraced)
{
    const char *end = (const char *)untraced + untraced->record.size;
    const char *cause = untraced->name + strlen(untraced->name) + 1;
    return cause < end && *cause && memchr(cause, 0, (size_t)(end - cause)) ? cause : NULL;
}

static void add_untraced(struct sideband_log *log, const struct logged_untraced *untraced)
{
    uint32_t pid = sideband_log_number(log, untraced->record.pid);
    const char *flag = flag_that_shows(untraced->reason);
    struct session_untraced *entry = find_untraced(log, pid, flag);
    bool is_thread = untraced->reason == UNTRACED_THREAD;
    if (entry && is_thread) {
        entry->threads++;
        return;
    }
    if (!entry)
        entry = array_add(&log->untraced);
    entry->pid = pid;
    entry->threads = 1;
    entry->name = arena_copy_string(&log->memory, untraced->name);
    entry->flag = flag;
    const char *cause = cause_of(untraced);
    entry->cause = cause ? arena_copy_string(&log->memory, cause) : NULL;
}

void sideband_log_add(struct sideband_log *log, const struct logged_record *record)
{
    switch (record->kind) {
    case LOGGED_MAPPING:
        add_mapping(log, (const struct logged_mapping *)record);
        break;
    case LOGGED_NAME:
        add_name(log, (const struct logged_name *)record);
        break;
    case LOGGED_FORK:
        add_life(log, SIDEBAND_FORK, (const struct logged_fork *)record);
        break;
    case LOGGED_EXIT:
        add_life(log, SIDEBAND_EXIT, (const struct logged_fork *)record);
        break;
    case LOGGED_UNTRACED:
        add_untraced(log, (const struct logged_untraced *)record);
        break;
    case LOGGED_REAPED:
        *(struct reaped_process *)array_add(&log->reaped) =
            (struct reaped_process){record->pid, {record->time}};
        break;
    case LOGGED_HIT:
        add_hit(log, (const struct logged_hit *)record);
        break;
    case LOGGED_KEPT:
        add_kept(log, (const struct logged_kept *)record);
        break;
    case LOGGED_DEATH:
        add_death(log, (const struct logged_death *)record);
        break;
    default:
        break;
    }
}

static int by_time(const void *left, const void *right)
{
    const struct sideband_record *const *a = left, *const *b = right;
    if ((*a)->time.value != (*b)->time.value)
        return (*a)->time.value < (*b)->time.value ? -1 : 1;
    /* Both lie in one array, in the order of the log. */
    return *a < *b ? -1 : *a > *b;
}

const struct sideband_record **sideband_log_sorted(const struct sideband_log *log)
{
    size_t count = log->records.count;
    const struct sideband_record **sorted = memory_allocate(count * sizeof(void *));
    for (size_t i = 0; i < count; i++)
        sorted[i] = array_at(&log->records, i);
    qsort(sorted, count, sizeof *sorted, by_time);
    return sorted;
}
