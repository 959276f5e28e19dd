#include "engine/packets/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int private_file_open(const char *path, int flags)
{
    int descriptor;
    do
        descriptor = open(path, flags | O_CLOEXEC, 0600);
    while (descriptor < 0 && errno == EINTR);
    /* The program's umask may have taken even our own rights: the file is opened again later. */
    if (descriptor >= 0 && (flags & O_CREAT))
        fchmod(descriptor, 0600);
    return descriptor;
}

/* Growing a file beyond the limit would raise SIGXFSZ in the program. */
static bool limit_allows(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size <= limit.rlim_cur;
}

bool private_file_allocate(int descriptor, uint64_t size)
{
    if (!limit_allows(size))
        return false;
    int error;
    do
        error = posix_fallocate(descriptor, 0, (off_t)size);
    while (error == EINTR);
    return error == 0;
}

bool private_file_extend(int descriptor, uint64_t size)
{
    return limit_allows(size) && ftruncate(descriptor, (off_t)size) == 0;
}

bool private_file_put(int descriptor, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t written = write(descriptor, next, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        next += written;
        size -= (size_t)written;
    }
    return true;
}

bool private_file_write(const char *path, const void *bytes, size_t size)
{
    if (!limit_allows(size))
        return false;
    int descriptor = private_file_open(path, O_WRONLY | O_CREAT | O_EXCL);
    if (descriptor < 0)
        return false;
    bool ok = private_file_put(descriptor, bytes, size);
    ok &= close(descriptor) == 0;
    if (!ok)
        unlink(path);
    return ok;
}
