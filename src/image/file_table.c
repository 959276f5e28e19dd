#include "image/file_table.h"

#include "base/log.h"
#include "base/memory.h"
#include "image/build_id_cache.h"
#include "image/debuginfod.h"
#include "image/image_search.h"
#include "process/vdso.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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

struct unique_string {
    const char *text;
    UT_hash_handle hh;
};

struct known_build_id {
    const char *path;
    struct build_id id;
    UT_hash_handle hh;
};

static struct timespec time_of_recording(const char *perf_data)
{
    struct stat status;
    if (!perf_data || stat(perf_data, &status) != 0)
        return (struct timespec){0};
    return status.st_mtim;
}

const char *file_table_string(struct file_table *table, const char *text)
{
    struct unique_string *found;
    HASH_FIND_STR(table->strings, text, found);
    if (!found) {
        found = arena_allocate(table->arena, sizeof *found);
        found->text = arena_copy_string(table->arena, text);
        HASH_ADD_KEYPTR(hh, table->strings, found->text, strlen(found->text), found);
    }
    return found->text;
}

static void learn_build_ids(struct file_table *table, const struct perf_data *data)
{
    for (size_t i = 0; i < data->build_id_count; i++) {
        const struct recorded_build_id *recorded = &data->build_ids[i];
        struct known_build_id *known;
        HASH_FIND_STR(table->build_ids, recorded->path, known);
        if (known || recorded->kernel)
            continue;
        known = arena_allocate(table->arena, sizeof *known);
        known->path = recorded->path;
        known->id = build_id_of(recorded->id, recorded->size);
        HASH_ADD_KEYPTR(hh, table->build_ids, known->path, strlen(known->path), known);
    }
}

void file_table_begin(struct file_table *table, struct arena *arena, const char *directory,
                      const struct perf_data *data, bool local)
{
    *table = (struct file_table){
        .arena = arena,
        .directory = directory,
        .recorded = time_of_recording(data->path),
        .files = array_of(sizeof(struct image_file *)),
        .missing.names = array_of(sizeof(const char *)),
        .replaced.names = array_of(sizeof(const char *)),
        .local = local,
    };
    learn_build_ids(table, data);
}

static void report_file(struct file_report *report, const char *path)
{
    enum { NAMES_SHOWN = 5 };
    if (report->count++ < NAMES_SHOWN)
        *(const char **)array_add(&report->names) = path;
}

static void warn_about_files(const struct file_report *report, const char *what,
                             const char *consequence)
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

/* The build id of the file that `record` maps, as far as the recording has it. */
static struct build_id recorded_build_id(const struct file_table *table,
                                         const struct sideband_record *record, const char *path)
{
    if (record->mapping.build_id_size > 0)
        return build_id_of(record->mapping.build_id, record->mapping.build_id_size);
    struct known_build_id *known;
    HASH_FIND_STR(table->build_ids, path, known);
    return known ? known->id : (struct build_id){.size = 0};
}

/* Opens the file at `path`, which is freed. With `wanted` only if it has that build id. */
static bool open_file(struct file_table *table, struct image_file *file, char *path,
                      const struct build_id *wanted)
{
    if (!path)
        return false;
    file->local_path = arena_copy_string(table->arena, path);
    free(path);
    if (!image_file_open(file, table->arena, NULL))
        return false;
    if (!wanted || build_id_equal(&file->build_id, wanted))
        return true;
    image_file_close(file);
    *file = (struct image_file){.id = file->id, .path = file->path};
    return false;
}

/* Only what the kernel made itself, [vdso], and files can have been kept by build id. */
static char *fetch_file(struct file_table *table, const struct image_file *file,
                        const struct build_id *wanted)
{
    if (image_path_is_anonymous(file->path))
        return NULL;
    if (!table->servers_opened && !table->local)
        table->servers = debuginfod_open();
    table->servers_opened = true;
    return table->servers ? debuginfod_fetch(table->servers, wanted, file->path) : NULL;
}

static bool open_by_build_id(struct file_table *table, struct image_file *file,
                             const struct build_id *wanted)
{
    return wanted->size > 0 && (open_file(table, file, build_id_cache_find(wanted), wanted) ||
                                open_file(table, file, fetch_file(table, file, wanted), wanted));
}

/* A recording that came without its folder has no copy of the kernel's [vdso]: this machine's is as
 * good where build ids say so, or, as to perf, where the build id is unknown and the size is the same. */
static bool open_own_vdso(struct file_table *table, struct image_file *file,
                          const struct sideband_record *record, const struct build_id *wanted)
{
    int descriptor = strcmp(file->path, "[vdso]") == 0 ? vdso_copy(record->mapping.length) : -1;
    if (descriptor < 0)
        return false;
    bool opened = open_file(table, file, memory_format("/proc/self/fd/%d", descriptor),
                            wanted->size > 0 ? wanted : NULL);
    if (!opened)
        close(descriptor);
    else
        file->memory = descriptor;
    if (opened && wanted->size == 0)
        log_status("The recording lacks the code of [vdso]: this machine's is taken.");
    return opened;
}

/* Memory that was dumped from its beginning on and is an object by itself: the kernel's [vdso],
 * which has symbols like any other. */
static bool is_dumped_object(const struct image_file *file)
{
    return file->jit && file->elf && file->segments[0].address == 0 &&
           file->segments[0].file_offset == 0;
}

/* Memory without a file can only be in images/, and users could not supply it; the exception is the
 * kernel's own object, of which perf keeps a copy on the machine of the recording. */
static bool is_worth_reporting(const char *path)
{
    return !image_path_is_anonymous(path) || strcmp(path, "[vdso]") == 0;
}

static void locate_file(struct file_table *table, struct image_file *file,
                        const struct sideband_record *record)
{
    uint64_t inode = record->mapping.inode;
    const struct build_id wanted = recorded_build_id(table, record, file->path);
    struct image_location location = image_search(table->directory, file->path, inode);
    file->jit = location.jit;
    bool trusted = location.bundled || wanted.size == 0;
    char *path = location.path ? memory_copy_string(location.path) : NULL;
    bool right = open_file(table, file, path, trusted ? NULL : &wanted);
    if (right && is_dumped_object(file)) {
        file->jit = false;
        right = image_file_open(file, table->arena, NULL);
    }
    if (!right)
        right =
            open_by_build_id(table, file, &wanted) || open_own_vdso(table, file, record, &wanted);
    if (right && wanted.size == 0 && !location.bundled && !file->memory &&
        was_replaced(table, file, inode))
        report_file(&table->replaced, file->path);
    if (!right && open_file(table, file, location.path, NULL))
        report_file(&table->replaced, file->path);
    else if (!right && is_worth_reporting(file->path))
        report_file(&table->missing, file->path);
    if (right)
        free(location.path);
}

static struct image_file *new_file(struct file_table *table, const char *path)
{
    struct image_file *file = arena_allocate(table->arena, sizeof *file);
    *file = (struct image_file){.id = (uint32_t)table->files.count, .path = path};
    *(struct image_file **)array_add(&table->files) = file;
    return file;
}

const struct image_file *file_table_get(struct file_table *table,
                                        const struct sideband_record *record)
{
    struct file_key key;
    memset(&key, 0, sizeof key); /* padding is part of the hashed bytes */
    key.inode = record->mapping.inode;
    key.device_major = record->mapping.device_major;
    key.device_minor = record->mapping.device_minor;
    key.path = file_table_string(table, record->mapping.path);

    struct known_file *found;
    HASH_FIND(hh, table->by_key, &key, sizeof key, found);
    if (!found) {
        found = arena_allocate(table->arena, sizeof *found);
        found->key = key;
        found->file = new_file(table, key.path);
        HASH_ADD(hh, table->by_key, key, sizeof key, found);
        locate_file(table, found->file, record);
    }
    return found->file;
}

struct image_file *file_table_add(struct file_table *table, const char *path,
                                  const char *local_path, const struct build_id *wanted)
{
    struct image_file *file = new_file(table, path);
    bool open = open_file(table, file, memory_copy_string(local_path), wanted);
    return open && file->elf ? file : NULL;
}

const struct image_file *file_table_add_bytes(struct file_table *table, const char *path,
                                              const uint8_t *bytes, size_t size)
{
    struct image_file *file = new_file(table, path);
    file->jit = true;
    file->view = (struct file_view){memcpy(arena_allocate(table->arena, size), bytes, size), size};
    return file;
}

struct image_file *file_table_add_names(struct file_table *table, const char *path,
                                        uint64_t address, uint64_t size)
{
    struct image_file *file = new_file(table, path);
    file->elf = true;
    file->segments = arena_allocate(table->arena, sizeof *file->segments);
    file->segments[0] = (struct image_segment){
        .address = address, .file_size = size, .memory_size = size, .executable = true};
    file->segment_count = 1;
    return file;
}

const struct image_file *file_table_add_code(struct file_table *table,
                                             const struct image_file *dump, const char *name)
{
    struct image_file *file = new_file(table, dump->path);
    file->local_path = dump->local_path;
    file->view = dump->view;
    file->jit = true;
    file->code_name = file_table_string(table, name);
    return file;
}

static void warn_about_all_files(const struct file_table *table)
{
    warn_about_files(
        &table->missing, "these files ran in the recording but are not on this machine",
        "Code in them cannot be decoded: decode where the recording was made, or copy them "
        "to the same path below a folder images/ beside perf.data, or name a server that has them "
        "in "
        "DEBUGINFOD_URLS.");
    warn_about_files(
        &table->replaced, "these files have changed since the recording",
        "What ran in them may be decoded wrongly: record again, or put the old ones at the same "
        "path below a folder images/ beside perf.data.");
}

struct array file_table_finish(struct file_table *table)
{
    HASH_CLEAR(hh, table->by_key);
    HASH_CLEAR(hh, table->build_ids);
    HASH_CLEAR(hh, table->strings);
    debuginfod_close(table->servers);
    if (!table->local)
        warn_about_all_files(table);
    array_free(&table->missing.names);
    array_free(&table->replaced.names);
    return table->files;
}
