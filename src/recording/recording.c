#include "recording/recording.h"

#include "base/memory.h"
#include "recording/flags.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_entry(const char *directory, const char *name)
{
    char *path = memory_format("%s/%s", directory, name);
    bool exists = access(path, F_OK) == 0;
    free(path);
    return exists;
}

/* The number of the snapshot in perf.data.NUMBER, 0 for perf.data; -1 for any other name. */
static long snapshot_of(const char *name)
{
    static const char base[] = "perf.data";
    size_t length = sizeof base - 1;
    if (strncmp(name, base, length) != 0)
        return -1;
    if (name[length] == 0)
        return 0;
    if (name[length] != '.' || !isdigit((unsigned char)name[length + 1]))
        return -1;
    char *end;
    long number = strtol(name + length + 1, &end, 10);
    return *end == 0 ? number : -1;
}

bool recording_is_data_name(const char *name)
{
    return snapshot_of(name) >= 0;
}

static int is_snapshot(const struct dirent *entry)
{
    return recording_is_data_name(entry->d_name);
}

static int by_snapshot(const struct dirent **left, const struct dirent **right)
{
    long a = snapshot_of((*left)->d_name), b = snapshot_of((*right)->d_name);
    return (a > b) - (a < b);
}

static bool no_snapshots(const char *directory, struct error *error)
{
    /* What engines write while a program runs (unfinished_name of struct engine). */
    static const char *const unfinished[] = {"soft", "translator"};
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (has_entry(directory, unfinished[i]))
            return error_set(
                error, ERROR_FORMAT,
                "the recording in %s was never finished: magic-trace was killed before it wrote "
                "perf.data, and what it left in %s/ could not be completed. Record again.",
                directory, unfinished[i]);
    return error_set(error, ERROR_NOT_FOUND,
                     "there is no recording in the folder %s: it has no file perf.data. Name the "
                     "folder given to magic-trace run " FLAG_WORKING_DIRECTORY
                     ", or a perf.data file.",
                     directory);
}

/* perf record --kcore and --threads make a folder whose file with the header is called `data`. */
static bool take_perf_folder(struct recording *recording)
{
    if (!has_entry(recording->directory, "data"))
        return false;
    recording->files[recording->file_count++] = memory_format("%s/data", recording->directory);
    return true;
}

/* perf.data may be such a folder, too: when an engine had perf write it with --kcore. */
static char *path_of_data(const char *directory, const char *name)
{
    char *path = memory_format("%s/%s", directory, name);
    if (!has_entry(path, "data"))
        return path;
    char *inner = memory_format("%s/data", path);
    free(path);
    return inner;
}

/* A FIFO's writer may never come. */
static bool are_regular(const struct recording *recording, struct error *error)
{
    struct stat status;
    for (size_t i = 0; i < recording->file_count; i++)
        if (stat(recording->files[i], &status) == 0 && !S_ISREG(status.st_mode))
            return error_set(error, ERROR_FORMAT, "%s is not a regular file", recording->files[i]);
    return true;
}

static bool list_snapshots(struct recording *recording, const char *path, struct error *error)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_snapshot, by_snapshot);
    if (count < 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot read the folder %s", path);
    recording->directory = memory_copy_string(path);
    recording->files = memory_allocate_zeroed((size_t)(count + 2) * sizeof *recording->files);
    for (int i = 0; i < count; i++) {
        recording->files[i] = path_of_data(path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    recording->file_count = (size_t)count;
    return (count > 0 || take_perf_folder(recording) || no_snapshots(path, error)) &&
           are_regular(recording, error);
}

static void take_file(struct recording *recording, const char *path)
{
    recording->files = memory_allocate(sizeof *recording->files);
    recording->files[0] = memory_copy_string(path);
    recording->file_count = 1;
    /* A file picked out of a recording still has its images beside it. */
    char *copy = memory_copy_string(path);
    const char *directory = dirname(copy);
    if (has_entry(directory, "session.json") || has_entry(directory, "images") ||
        has_entry(directory, "kcore_dir"))
        recording->directory = memory_copy_string(directory);
    free(copy);
}

bool recording_open(struct recording *recording, const char *path, struct error *error)
{
    *recording = (struct recording){0};
    struct stat status;
    bool ok = stat(path, &status) == 0;
    if (!ok)
        error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                        "cannot open the recording %s", path);
    else if (S_ISDIR(status.st_mode))
        ok = list_snapshots(recording, path, error);
    else
        take_file(recording, path);
    if (!ok)
        recording_close(recording);
    return ok;
}

void recording_close(struct recording *recording)
{
    for (size_t i = 0; i < recording->file_count; i++)
        free(recording->files[i]);
    free(recording->files);
    free(recording->directory);
    *recording = (struct recording){0};
}
