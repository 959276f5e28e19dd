#include "engine/recording_directory.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

char *recording_directory_absolute(const char *directory, struct error *error)
{
    char *absolute = realpath(directory, NULL);
    if (!absolute)
        error_set_errno(error, ERROR_IO, errno, "cannot record into %s", directory);
    return absolute;
}

char *recording_directory_prepare(const char *directory, struct error *error)
{
    char *absolute = recording_directory_absolute(directory, error);
    if (!absolute)
        return NULL;
    char *images = memory_format("%s/images", absolute);
    bool ok = file_make_directories(images, error);
    free(images);
    if (ok)
        return absolute;
    free(absolute);
    return NULL;
}

void recording_directory_leave(char *directory, bool recorded)
{
    char *images = memory_format("%s/images", directory);
    if (recorded)
        rmdir(images); /* fails, as it should, unless it is empty */
    else
        file_remove_tree(images, NULL);
    free(images);
    free(directory);
}
