/* The files that a recording's mappings name: each is looked for and opened once.
 *
 * Used by address_space_build.c while it builds. At the end it reports, in one sentence each, the
 * files that are missing and those that were replaced since the recording. Where the recording has
 * a file's build id, that decides which file is the right one.
 */
#ifndef MAGIC_TRACE_IMAGE_FILE_TABLE_H
#define MAGIC_TRACE_IMAGE_FILE_TABLE_H

#include "base/arena.h"
#include "base/array.h"
#include "image/image_file.h"
#include "recording/perf_data/perf_data_reader.h"

#include <time.h>

/* Files to be reported to the user. */
struct file_report {
    size_t count;
    struct array names; /* of const char *; the first few */
};

struct file_table {
    struct arena *arena;              /* borrowed: owns the files */
    const char *directory;            /* borrowed: the recording's folder, or NULL */
    struct timespec recorded;         /* when perf.data was last written; 0 unknown */
    struct known_file *by_key;        /* a hash table */
    struct unique_string *strings;    /* a hash table: paths repeat with every process */
    struct known_build_id *build_ids; /* a hash table by path: what the recording says of files */
    struct debuginfod *servers;       /* NULL: none, or not asked yet */
    bool servers_opened;
    struct array files; /* of struct image_file *, by id */
    struct file_report missing, replaced;
    bool local; /* no server is asked, and missing files are not reported */
};

/* `data` is borrowed until file_table_finish. */
void file_table_begin(struct file_table *table, struct arena *arena, const char *directory,
                      const struct perf_data *data, bool local);

/* The file that the SIDEBAND_MAPPING `record` maps. */
const struct image_file *file_table_get(struct file_table *table,
                                        const struct sideband_record *record);

/* The file at `local_path`, which no mapping names, called `path`; NULL when it cannot be opened or
 * is no object. With `wanted` only if it has that build id. */
struct image_file *file_table_add(struct file_table *table, const char *path,
                                  const char *local_path, const struct build_id *wanted);

/* Copies the bytes at `bytes` and adds them as a file of their own. */
const struct image_file *file_table_add_bytes(struct file_table *table, const char *path,
                                              const uint8_t *bytes, size_t size);

/* A file that is not here, called `path`: of its code only the names are known, which the caller
 * fills in, and that it lies at the `size` bytes from `address` on. */
struct image_file *file_table_add_names(struct file_table *table, const char *path,
                                        uint64_t address, uint64_t size);

/* A function called `name` whose code lies in the bytes of `dump`, as a file of its own. */
const struct image_file *file_table_add_code(struct file_table *table,
                                             const struct image_file *dump, const char *name);

/* A copy of `text`; the same one for the same text. */
const char *file_table_string(struct file_table *table, const char *text);

/* Warns of missing and replaced files and frees the table. Returns the files (of struct image_file
 * *, by id); the array is the caller's. */
struct array file_table_finish(struct file_table *table);

#endif
