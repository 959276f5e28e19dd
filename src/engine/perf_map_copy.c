#include "engine/perf_map_copy.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_of_process(const struct stat *status, const struct seen_by *process)
{
    return status->st_uid == 0 || status->st_uid == geteuid() ||
           (process && process->has_user && status->st_uid == process->user);
}

static bool is_trusted(int descriptor, const struct perf_map_copy *copy)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
        !is_of_process(&status, copy->seen_by))
        return false;
    /* A file's time is that of the last clock tick, which may have been just before. */
    enum { CLOCK_TICK_NS = 10 * 1000 * 1000 };
    uint64_t written =
        (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    return written + CLOCK_TICK_NS >= copy->begun;
}

static void write_copy(const char *path, const char *text, size_t size)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return;
    bool ok = file_write_all(descriptor, text, size, path, NULL);
    close(descriptor);
    if (!ok)
        unlink(path);
}

static int open_map(const struct perf_map_copy *copy, const char *path)
{
    return copy->seen_by && copy->seen_by->foreign
               ? process_files_open(&copy->seen_by->files, path)
               : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

void perf_map_keep(const struct perf_map_copy *copy)
{
    char *from = memory_format("%s/perf-%u.map", copy->from, copy->pid);
    char *to = memory_format("%s/images/perf-%u.map", copy->directory, copy->recorded_pid);
    int descriptor = open_map(copy, from);
    if (descriptor >= 0) {
        size_t size;
        char *text = is_trusted(descriptor, copy)
                         ? file_read_descriptor(descriptor, from, &size, NULL)
                         : NULL;
        if (text)
            write_copy(to, text, size);
        free(text);
        close(descriptor);
    }
    free(from);
    free(to);
}
