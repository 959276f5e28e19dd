#include "base/file.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_map_descriptor(struct file_view *view, int descriptor, const char *path,
                         struct error *error)
{
    *view = (struct file_view){0};
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot read %s", path);
    if (!S_ISREG(status.st_mode))
        return error_set(error, ERROR_FORMAT, "%s is not a regular file", path);
    if (status.st_size == 0)
        return true;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED)
        return error_set_errno(error, ERROR_IO, errno, "cannot map %s", path);
    *view = (struct file_view){bytes, (size_t)status.st_size};
    return true;
}

/* Does not wait for a FIFO's writer. */
int file_open(const char *path, struct error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                        "cannot open %s", path);
    return descriptor;
}

bool file_map(struct file_view *view, const char *path, struct error *error)
{
    *view = (struct file_view){0};
    int descriptor = file_open(path, error);
    if (descriptor < 0)
        return false;
    bool ok = file_map_descriptor(view, descriptor, path, error);
    close(descriptor);
    return ok;
}

static bool is_regular(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

static bool poll_input(int descriptor, int milliseconds)
{
    struct pollfd input = {.fd = descriptor, .events = POLLIN};
    int ready;
    do
        ready = poll(&input, 1, milliseconds);
    while (ready < 0 && errno == EINTR);
    return ready != 0;
}

/* Opened with O_NONBLOCK, a FIFO that has had no writer yet is at its end; poll(2) waits for one. */
static void await_input(int descriptor, const char *name)
{
    if (poll_input(descriptor, 1000))
        return;
    log_status("Waiting for input from %s. Ctrl-C ends it.", name);
    poll_input(descriptor, -1);
}

static int copy_standard_input(struct error *error)
{
    int descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0)
        error_set_errno(error, ERROR_IO, errno, "cannot read standard input");
    else
        await_input(descriptor, "standard input");
    return descriptor;
}

int file_open_input(const char *path, struct error *error)
{
    if (strcmp(path, "-") == 0)
        return copy_standard_input(error);
    int descriptor = file_open(path, error);
    if (descriptor < 0)
        return -1;
    await_input(descriptor, path);
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0)
        return descriptor;
    error_set_errno(error, ERROR_IO, errno, "cannot read %s", path);
    close(descriptor);
    return -1;
}

bool file_map_input(struct file_view *view, const char *path, struct error *error)
{
    *view = (struct file_view){0};
    int descriptor = file_open_input(path, error);
    if (descriptor < 0)
        return false;
    bool ok = (is_regular(descriptor) || file_spool(descriptor, path, error)) &&
              file_map_descriptor(view, descriptor, path, error);
    close(descriptor);
    return ok;
}

static bool copy_to_end(int from, int to, const char *path, struct error *error)
{
    char bytes[65536];
    for (;;) {
        ssize_t got = read(from, bytes, sizeof bytes);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return error_set_errno(error, ERROR_IO, errno, "cannot read %s", path);
        if (got > 0 && !file_write_all(to, bytes, (size_t)got, "a temporary file", error))
            return false;
    }
}

bool file_spool(int descriptor, const char *path, struct error *error)
{
    FILE *temporary = tmpfile();
    if (!temporary)
        return error_set_errno(error, ERROR_IO, errno, "cannot make a temporary file for %s", path);
    bool ok = copy_to_end(descriptor, fileno(temporary), path, error);
    if (ok && dup3(fileno(temporary), descriptor, O_CLOEXEC) < 0)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot use a temporary file for %s", path);
    fclose(temporary);
    return ok;
}

void file_unmap(struct file_view *view)
{
    if (view->bytes)
        munmap((void *)view->bytes, view->size);
    *view = (struct file_view){0};
}

bool file_read_exactly(int descriptor, void *bytes, size_t size)
{
    char *next = bytes;
    while (size > 0) {
        ssize_t got = read(descriptor, next, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        next += got;
        size -= (size_t)got;
    }
    return true;
}

char *file_read_descriptor(int descriptor, const char *path, size_t *size, struct error *error)
{
    size_t used = 0, capacity = 4096;
    char *bytes = memory_allocate(capacity);
    for (;;) {
        ssize_t got = read(descriptor, bytes + used, capacity - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            error_set_errno(error, ERROR_IO, errno, "cannot read %s", path);
            free(bytes);
            return NULL;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (capacity - used < 2)
            bytes = memory_resize(bytes, capacity *= 2);
    }
    bytes[used] = 0;
    if (size)
        *size = used;
    return bytes;
}

char *file_read(const char *path, size_t *size, struct error *error)
{
    int descriptor = file_open(path, error);
    if (descriptor < 0)
        return NULL;
    char *bytes = file_read_descriptor(descriptor, path, size, error);
    close(descriptor);
    return bytes;
}

/* Never waits for the other end of a FIFO. What another user has put there is not written to but
 * replaced: its owner could read it whatever its mode. */
static int create_own(const char *path)
{
    enum { FLAGS = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };
    struct stat status;
    int descriptor = open(path, FLAGS, 0600);
    if (descriptor < 0 || fstat(descriptor, &status) != 0 || S_ISCHR(status.st_mode))
        return descriptor;
    bool ours = S_ISREG(status.st_mode) && status.st_uid == geteuid();
    /* ext4 writes a file that was truncated to the disk when it is closed, and whoever closes it waits. */
    if (ours && (status.st_size == 0 || ftruncate(descriptor, 0) == 0))
        return descriptor;
    close(descriptor);
    return unlink(path) == 0 ? open(path, FLAGS | O_EXCL, 0600) : -1;
}

int file_create_private(const char *path, struct error *error)
{
    int descriptor = create_own(path);
    if (descriptor < 0) {
        error_set_errno(error, ERROR_IO, errno, "cannot create %s", path);
        return -1;
    }
    /* An existing file keeps its mode through O_CREAT, so restrict it here. Devices (/dev/null)
     * keep theirs.
     */
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        fchmod(descriptor, 0600) != 0) {
        error_set_errno(error, ERROR_IO, errno, "cannot make %s readable by its owner alone", path);
        close(descriptor);
        return -1;
    }
    return descriptor;
}

bool file_write_all(int descriptor, const void *bytes, size_t size, const char *path,
                    struct error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = write(descriptor, (const char *)bytes + done, size - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return error_set_errno(error, ERROR_IO, errno, "cannot write to %s", path);
        done += (size_t)written;
    }
    return true;
}

static bool write_and_close(int descriptor, const void *bytes, size_t size, const char *path,
                            struct error *error)
{
    bool ok = file_write_all(descriptor, bytes, size, path, error);
    if (close(descriptor) != 0 && ok)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot write %s", path);
    return ok;
}

bool file_replace(const char *path, const void *bytes, size_t size, struct error *error)
{
    char *partial = memory_format("%s.partial", path);
    int descriptor = file_create_private(partial, error);
    bool ok = descriptor >= 0 && write_and_close(descriptor, bytes, size, partial, error);
    if (ok && rename(partial, path) != 0)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", partial, path);
    if (descriptor >= 0 && !ok)
        unlink(partial);
    free(partial);
    return ok;
}

bool file_is_executable(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* An empty element of PATH is the current directory. */
char *file_find_in_path(const char *name, bool (*suits)(const char *path))
{
    const char *path = getenv("PATH");
    char *folders = memory_copy_string(path ? path : "/bin:/usr/bin");
    char *found = NULL;
    for (char *rest = folders, *folder; !found && (folder = strsep(&rest, ":"));) {
        char *candidate = memory_format("%s/%s", *folder ? folder : ".", name);
        if (suits(candidate))
            found = candidate;
        else
            free(candidate);
    }
    free(folders);
    return found;
}

char *file_find_program(const char *name)
{
    return file_find_in_path(name, file_is_executable);
}

char *file_read_link(const char *path)
{
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target);
    return length <= 0 ? NULL : memory_format("%.*s", (int)length, target);
}

bool file_make_directories(const char *path, struct error *error)
{
    if (*path == 0)
        return error_set(error, ERROR_USAGE, "cannot make a folder whose name is empty");
    char *partial = memory_copy_string(path);
    bool ok = true;
    for (char *slash = partial + 1; ok; slash++) {
        slash = strchr(slash, '/');
        if (slash)
            *slash = 0;
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            ok = error_set_errno(error, ERROR_IO, errno, "cannot make the folder %s", partial);
        if (!slash)
            break;
        *slash = '/';
    }
    struct stat status;
    if (ok && (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)))
        ok = error_set(error, ERROR_IO, "%s exists but is not a folder", path);
    free(partial);
    return ok;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

bool file_remove_tree(const char *path, struct error *error)
{
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return error_set_errno(error, ERROR_IO, errno, "cannot remove %s", path);
    return true;
}
