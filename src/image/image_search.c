#include "image/image_search.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char deleted_suffix[] = " (deleted)";

static bool starts_with(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

/* perf_event_mmap_event() in kernel/events/core.c and tools/perf/util/map.h (is_anon_memory,
 * is_no_dso_memory). */
bool image_path_is_anonymous(const char *path)
{
    static const char *const prefixes[] = {
        "[",     "//",          "/memfd:",      "/dev/zero", "/anon_hugepage",
        "/SYSV", "anon_inode:", "/anon_inode:", "inode:",
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (starts_with(path, prefixes[i]))
            return true;
    return *path == 0;
}

/* Only regular files: opening a FIFO or a device that a damaged recording names could block or do
 * harm. */
static bool is_regular_file(const char *path, uint64_t inode)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           (inode == 0 || status.st_ino == inode);
}

/* What follows the next path component "images" in `path`; NULL if not found. */
static const char *below_images_folder(const char *path)
{
    static const char folder[] = "images/";
    for (const char *at = path; (at = strstr(at, folder)); at++)
        if ((at == path || at[-1] == '/') && at[strlen(folder)])
            return at + strlen(folder);
    return NULL;
}

static char *existing_image(const char *directory, const char *name)
{
    char *path = memory_format("%s/images/%s", directory, name);
    if (is_regular_file(path, 0))
        return path;
    free(path);
    return NULL;
}

static char *search_images_folder(const char *directory, const char *plain_path, bool *jit)
{
    char *path = NULL;
    for (const char *name = plain_path; !path && (name = below_images_folder(name));) {
        path = existing_image(directory, name);
        *jit = path && !strchr(name, '/');
    }
    return path ? path : existing_image(directory, plain_path + (*plain_path == '/'));
}

struct image_location image_search(const char *directory, const char *recorded_path, uint64_t inode)
{
    struct image_location location = {0};
    char *plain_path = memory_copy_string(recorded_path);
    size_t length = strlen(plain_path), suffix_length = strlen(deleted_suffix);
    bool deleted =
        length > suffix_length && strcmp(plain_path + length - suffix_length, deleted_suffix) == 0;
    if (deleted)
        plain_path[length - suffix_length] = 0;

    if (directory)
        location.path = search_images_folder(directory, plain_path, &location.jit);
    location.bundled = location.path != NULL;
    /* Without a recorded inode, a deleted file cannot be distinguished from its successor: it
     * counts as missing. */
    if (!location.path && *plain_path == '/' && !image_path_is_anonymous(recorded_path) &&
        !(deleted && inode == 0) && is_regular_file(plain_path, deleted ? inode : 0))
        location.path = memory_copy_string(plain_path);
    free(plain_path);
    return location;
}
