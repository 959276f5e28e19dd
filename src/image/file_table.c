#include "image/file_table.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/image_search.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

/* The same path with another inode is another file. */
struct file_key {
    uint64_t inode;
    uint32_t device_major, device_minor;
    const char *path; /* in the arena, one pointer per distinct path */
};

struct known_file {
    struct file_key key;
    struct image_file *file;
    UT_hash_handle hh;
};

static struct timespec time_of_recording(const char *perf_data)
{
    struct stat status;
    if (!perf_data || stat(perf_data, &status) != 0)
        return (struct timespec){0};
    return status.st_mtim;
}

void file_table_begin(struct file_table *table, struct arena *arena, const char *directory,
                      const char *perf_data)
{
    *table = (struct file_table){
        .arena = arena,
        .directory = directory,
        .recorded = time_of_recording(perf_data),
        .files = array_of(sizeof(struct image_file *)),
        .missing.names = array_of(sizeof(const char *)),
        .replaced.names = array_of(sizeof(const char *)),
    };
}

static void report_file(struct file_report *report, const char *path)
{
    enum { NAMES_SHOWN = 5 };
    if (report->count++ < NAMES_SHOWN)
        *(const char **)array_add(&report->names) = path;
}

static void warn_about_files(struct file_report *report, const char *what, const char *consequence)
{
    if (report->count == 0)
        return;
    char *names = memory_copy_string("");
    for (size_t i = 0; i < report->names.count; i++) {
        char *longer = memory_format("%s%s%s", names, i ? ", " : "",
                                     *(const char **)array_at(&report->names, i));
        free(names);
        names = longer;
    }
    if (report->count > report->names.count)
        log_warning("%s: %s and %zu more. %s", what, names, report->count - report->names.count,
                    consequence);
    else
        log_warning("%s: %s. %s", what, names, consequence);
    free(names);
}

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* Whether the file at its recorded path was written, or put in the place of the recorded one, after
 * the recording. An inode that differs is not enough: on overlay file systems (containers) stat and
 * the kernel's mapping records never agree. */
static bool was_replaced(const struct file_table *table, const struct image_file *file,
                         uint64_t inode)
{
    struct stat status;
    if (table->recorded.tv_sec == 0 || stat(file->local_path, &status) != 0)
        return false;
    return is_later(status.st_mtim, table->recorded) ||
           (inode != 0 && status.st_ino != inode && is_later(status.st_ctim, table->recorded));
}

static void locate_file(struct file_table *table, struct image_file *file, uint64_t inode)
{
    struct image_location location = image_search(table->directory, file->path, inode);
    if (location.path) {
        file->local_path = arena_copy_string(table->arena, location.path);
        file->jit = location.jit;
        free(location.path);
        image_file_open(file, table->arena, NULL);
    }
    if (!file->local_path) {
        if (!image_path_is_anonymous(file->path))
            report_file(&table->missing, file->path);
    } else if (!location.bundled && was_replaced(table, file, inode)) {
        report_file(&table->replaced, file->path);
    }
}

const struct image_file *file_table_get(struct file_table *table,
                                        const struct side_band_record *record, const char *path)
{
    struct file_key key;
    memset(&key, 0, sizeof key); /* padding is part of the hashed bytes */
    key.inode = record->mapping.inode;
    key.device_major = record->mapping.device_major;
    key.device_minor = record->mapping.device_minor;
    key.path = path;

    struct known_file *found;
    HASH_FIND(hh, table->by_key, &key, sizeof key, found);
    if (!found) {
        found = arena_allocate(table->arena, sizeof *found);
        found->key = key;
        found->file = arena_allocate(table->arena, sizeof *found->file);
        *found->file = (struct image_file){
            .id = (uint32_t)table->files.count,
            .path = key.path,
        };
        *(struct image_file **)array_add(&table->files) = found->file;
        HASH_ADD(hh, table->by_key, key, sizeof key, found);
        locate_file(table, found->file, key.inode);
    }
    return found->file;
}

struct array file_table_finish(struct file_table *table)
{
    HASH_CLEAR(hh, table->by_key);
    warn_about_files(
        &table->missing, "these files ran in the recording but are not on this machine",
        "Code in them cannot be decoded: decode where the recording was made, or copy them "
        "to the same path below the recording's images/ folder.");
    warn_about_files(
        &table->replaced, "these files have changed since the recording",
        "What ran in them may be decoded wrongly: record again, or put the old ones at the same "
        "path below the recording's images/ folder.");
    array_free(&table->missing.names);
    array_free(&table->replaced.names);
    return table->files;
}
