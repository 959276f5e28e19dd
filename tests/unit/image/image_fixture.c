#include "image_fixture.h"

#include "base/file.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct recording recording_new(void)
{
    return (struct recording){array_of(sizeof(struct sideband_record))};
}

void recording_free(struct recording *recording)
{
    array_free(&recording->records);
}

struct perf_data recording_of(const struct recording *recording)
{
    return (struct perf_data){
        .setup = {.clock = {.zero = 0, .mult = 1, .shift = 0}, .has_clock = true},
        .records = recording->records.elements,
        .record_count = recording->records.count,
    };
}

static struct sideband_record *add_record(struct recording *recording, enum sideband_kind kind,
                                          uint64_t time, uint32_t pid, uint32_t tid)
{
    struct sideband_record *record = array_add(&recording->records);
    record->kind = kind;
    record->time.value = time;
    record->pid = pid;
    record->tid = tid;
    record->cpu = UINT32_MAX;
    return record;
}

void add_mapping(struct recording *recording, uint64_t time, uint32_t pid, uint64_t start,
                 uint64_t end, uint64_t file_offset, const char *path)
{
    struct sideband_record *record = add_record(recording, SIDEBAND_MAPPING, time, pid, pid);
    record->mapping.start = start;
    record->mapping.length = end - start;
    record->mapping.file_offset = file_offset;
    record->mapping.executable = true;
    record->mapping.path = path;
}

void add_name(struct recording *recording, uint64_t time, uint32_t pid, uint32_t tid,
              const char *name, bool exec)
{
    struct sideband_record *record = add_record(recording, SIDEBAND_NAME, time, pid, tid);
    record->name.name = name;
    record->name.exec = exec;
}

void add_fork(struct recording *recording, uint64_t time, uint32_t parent_pid, uint32_t parent_tid,
              uint32_t pid, uint32_t tid)
{
    struct sideband_record *record = add_record(recording, SIDEBAND_FORK, time, pid, tid);
    record->fork.parent_pid = parent_pid;
    record->fork.parent_tid = parent_tid;
}

void add_exit(struct recording *recording, uint64_t time, uint32_t pid, uint32_t tid)
{
    add_record(recording, SIDEBAND_EXIT, time, pid, tid);
}

void write_file(const char *path, const void *bytes, size_t size)
{
    char *folder = memory_copy_string(path);
    char *slash = strrchr(folder, '/');
    assert_non_null(slash);
    *slash = 0;
    assert_true(file_make_directories(folder, NULL));
    free(folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

char *make_test_folder(void)
{
    char *folder = memory_copy_string("/tmp/magic-trace-images-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

void remove_test_folder(char *folder)
{
    file_remove_tree(folder, NULL);
    free(folder);
}

int make_folder(void **state)
{
    *state = make_test_folder();
    return 0;
}

int remove_folder(void **state)
{
    remove_test_folder(*state);
    return 0;
}
