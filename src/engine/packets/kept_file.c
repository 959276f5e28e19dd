#include "engine/packets/kept_file.h"

#include "engine/packets/file_version.h"
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

/* Bytes. Copying this much takes some hundredths of a second, once per recording. */
enum { LARGEST_KEPT = 32 << 20 };

static bool is_of_the_system(const char *path)
{
    static const char *const folders[] = {
        "/usr/", "/lib", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/", "/proc/", "/dev/",
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

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

static bool copy_bytes(int to, int from, uint64_t size)
{
    if (!private_file_allocate(to, size))
        return false;
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
static bool copy_to(const char *path, const char *unfinished, int from, const struct stat *status)
{
    int to = private_file_open(unfinished, O_WRONLY | O_CREAT | O_EXCL);
    if (to < 0)
        return false;
    struct timespec times[] = {status->st_atim, status->st_mtim};
    bool ok = copy_bytes(to, from, (uint64_t)status->st_size) && futimens(to, times) == 0;
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

static bool keep(const char *directory, const char *path, int descriptor, const struct stat *status)
{
    char copy[PATH_MAX], unfinished[PATH_MAX];
    uint64_t version = file_version(status);
    int length = snprintf(copy, sizeof copy, "%s/images%s", directory, path);
    int room = (int)sizeof copy - FILE_VERSION_SUFFIX_SIZE;
    if (length >= room || snprintf(unfinished, sizeof unfinished, "%s/images/unfinished-%d",
                                   directory, gettid()) >= (int)sizeof unfinished)
        return false;
    if (is_version(copy, version))
        return true;
    if (access(copy, F_OK) == 0) {
        file_version_suffix(copy + length, version);
        if (is_version(copy, version))
            return true;
    }
    make_folders(copy, strlen(directory) + strlen("/images"));
    return copy_to(copy, unfinished, descriptor, status);
}

uint64_t kept_file_copy(const char *directory, const char *path, uint64_t inode)
{
    if (path[0] != '/' || is_of_the_system(path))
        return 0;
    int descriptor = private_file_open(path, O_RDONLY);
    if (descriptor < 0)
        return 0;
    struct stat status;
    bool kept = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_ino == inode && status.st_size <= LARGEST_KEPT &&
                keep(directory, path, descriptor, &status);
    close(descriptor);
    return kept ? file_version(&status) : 0;
}
