#include "engine/perf/perf_files.h"

#include "base/memory.h"
#include "recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool take_name(const char *path, const char *directory, size_t number, struct error *error)
{
    char *name = number ? memory_format("%s/perf.data.%zu", directory, number)
                        : memory_format("%s/perf.data", directory);
    bool ok = rename(path, name) == 0;
    if (!ok)
        error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", path, name);
    free(name);
    return ok;
}

bool perf_files_number(const char *directory, struct error *error)
{
    struct recording recording;
    if (!recording_open(&recording, directory, error))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < recording.file_count; i++)
        ok = take_name(recording.files[i], directory, i, error);
    recording_close(&recording);
    return ok;
}

uint64_t perf_files_size(const char *directory)
{
    struct recording recording;
    uint64_t size = 0;
    if (!recording_open(&recording, directory, NULL))
        return 0;
    for (size_t i = 0; i < recording.file_count; i++) {
        struct stat status;
        if (stat(recording.files[i], &status) == 0 && S_ISREG(status.st_mode))
            size += (uint64_t)status.st_size;
    }
    recording_close(&recording);
    return size;
}
