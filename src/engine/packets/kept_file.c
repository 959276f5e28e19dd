#include "engine/packets/kept_file.h"

#include "engine/packets/file_version.h"
#include "engine/packets/kept_file_rules.h"
#include "engine/packets/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders above `path`, which has room for being cut; those up to `existing` characters
 * are there. */
static void make_folders(char *path, size_t existing)
{
    for (char *slash = path + existing; (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        /* Set the mode again, because the program's umask may have removed our permissions. */
        if (mkdir(path, 0700) == 0)
            chmod(path, 0700);
        *slash = '/';
    }
}

/* What a copy is made of. */
struct content {
    int descriptor;    /* of the file, or -1, and */
    const void *bytes; /* what it contained */
    uint64_t size, version;
    struct timespec times[2]; /* as for futimens */
};

static bool copy_bytes(int to, const struct content *content)
{
    int from = content->descriptor;
    uint64_t size = content->size;
    if (!private_file_allocate(to, size))
        return false;
    if (from < 0)
        return private_file_put(to, content->bytes, size);
    while (size > 0) {
        ssize_t sent = sendfile(to, from, NULL, size);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        size -= (uint64_t)sent;
    }
    return true;
}

/* Under another name first, so that an incomplete copy is never found. */
static bool copy_to(const char *path, const char *unfinished, const struct content *content)
{
    int to = private_file_open(unfinished, O_WRONLY | O_CREAT | O_EXCL);
    if (to < 0)
        return false;
    bool ok = copy_bytes(to, content) && futimens(to, content->times) == 0;
    ok &= close(to) == 0;
    ok = ok && rename(unfinished, path) == 0;
    if (!ok)
        unlink(unfinished);
    return ok;
}

static bool is_version(const char *path, uint64_t version)
{
    struct stat status;
    return stat(path, &status) == 0 && file_version(&status) == version;
}

/* A traced process writes the log that the path comes from. No copy may lie outside of the recording. */
static bool climbs(const char *path)
{
    size_t length = strlen(path);
    return strstr(path, "/../") || (length >= 3 && strcmp(path + length - 3, "/..") == 0);
}

static bool keep(const char *directory, const char *path, const struct content *content)
{
    char copy[PATH_MAX], unfinished[PATH_MAX];
    uint64_t version = content->version;
    int length = snprintf(copy, sizeof copy, "%s/images%s", directory, path);
    int room = (int)sizeof copy - FILE_VERSION_SUFFIX_SIZE;
    if (length >= room || climbs(path) ||
        snprintf(unfinished, sizeof unfinished, "%s/images/unfinished-%d", directory, gettid()) >=
            (int)sizeof unfinished)
        return false;
    if (is_version(copy, version))
        return true;
    if (access(copy, F_OK) == 0) {
        file_version_suffix(copy + length, version);
        if (is_version(copy, version))
            return true;
    }
    make_folders(copy, strlen(directory) + strlen("/images"));
    return copy_to(copy, unfinished, content);
}

static uint64_t keep_open(const char *directory, const char *path, int descriptor,
                          const struct stat *status)
{
    const struct content content = {.descriptor = descriptor,
                                    .size = (uint64_t)status->st_size,
                                    .version = file_version(status),
                                    .times = {status->st_atim, status->st_mtim}};
    return keep(directory, path, &content) ? content.version : 0;
}

uint64_t kept_file_copy(const char *directory, const char *path, uint64_t inode)
{
    if (path[0] != '/' || path_is_of_the_system(path))
        return 0;
    int descriptor = private_file_open(path, O_RDONLY);
    if (descriptor < 0)
        return 0;
    struct stat status;
    bool kept = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_ino == inode && status.st_size <= LARGEST_KEPT_FILE;
    uint64_t version = kept ? keep_open(directory, path, descriptor, &status) : 0;
    close(descriptor);
    return version;
}

uint64_t kept_file_copy_open(const char *directory, const char *path, int descriptor)
{
    struct stat status;
    return path[0] == '/' && fstat(descriptor, &status) == 0
               ? keep_open(directory, path, descriptor, &status)
               : 0;
}

bool kept_file_store(const char *directory, const char *path, uint64_t version, const void *bytes,
                     uint64_t size)
{
    struct timespec time = file_version_time(version, size);
    const struct content content = {
        .descriptor = -1, .bytes = bytes, .size = size, .version = version, .times = {time, time}};
    return path[0] == '/' && keep(directory, path, &content);
}
