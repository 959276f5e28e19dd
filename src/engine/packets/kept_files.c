#include "engine/packets/kept_files.h"

#include "base/memory.h"
#include "engine/packets/file_version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool is_version(const char *path, uint64_t version)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && file_version(&status) == version;
}

/* A name in images/ itself would be that of dumped memory (image_search.h). */
static char *copy_path(const char *directory, const char *path)
{
    bool has_folder = path[0] == '/' && strchr(path + 1, '/');
    return memory_format("%s/images%s%s", directory, has_folder ? "" : "/.", path);
}

char *kept_files_path(const char *directory, const char *path, uint64_t version)
{
    char suffix[FILE_VERSION_SUFFIX_SIZE];
    if (version == 0)
        return NULL;
    file_version_suffix(suffix, version);
    char *copy = copy_path(directory, path);
    char *other_copy = memory_format("%s%s", copy, suffix);
    char *result = NULL;
    /* Where two versions were kept, the plain path leads to the first: decoders look for it among
     * the copies before they look at the file. */
    if (is_version(other_copy, version)) {
        result = other_copy;
        other_copy = NULL;
    } else if (!is_version(path, version) && is_version(copy, version)) {
        result = copy;
        copy = NULL;
    }
    free(copy);
    free(other_copy);
    return result;
}

char *kept_files_foreign_path(const char *directory, const char *path, uint64_t version)
{
    char suffix[FILE_VERSION_SUFFIX_SIZE];
    char *copy = copy_path(directory, path);
    file_version_suffix(suffix, version);
    char *other_copy = memory_format("%s%s", copy, suffix);
    bool is_other = version != 0 && is_version(other_copy, version);
    free(is_other ? copy : other_copy);
    return is_other ? other_copy : copy;
}
