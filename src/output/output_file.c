#include "output/output_file.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/trusted_links.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* /dev/stdout and its like name a descriptor that is open already. Opening it by its name would
 * give a second file position on a regular file (trace >> log), so it is duplicated instead. -1:
 * `path` is no such name. */
static int standard_descriptor(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    int descriptor, length = 0;
    if ((sscanf(path, "/dev/fd/%d%n", &descriptor, &length) == 1 ||
         sscanf(path, "/proc/self/fd/%d%n", &descriptor, &length) == 1) &&
        path[length] == 0)
        return descriptor;
    return -1;
}

/* A device or a FIFO, whose reader may be started a little later, or never: ENXIO. */
static int open_special(const char *path)
{
    enum { ATTEMPTS = 30 };
    const struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
    int descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    for (int i = 0; i < ATTEMPTS && descriptor < 0 && errno == ENXIO; i++) {
        nanosleep(&pause, NULL);
        descriptor = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    }
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    return descriptor;
}

static bool open_directly(struct output_file *file, const char *path, struct error *error)
{
    int descriptor = standard_descriptor(path);
    file->descriptor = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : open_special(path);
    if (file->descriptor < 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot open %s for writing%s", path,
                               errno == ENXIO ? " (nothing reads from it)" : "");
    file->path = memory_copy_string(path);
    return true;
}

/* Where `path` leads to when it is a symbolic link. The caller frees; NULL with the reason. */
static char *resolve_link(const char *path, struct error *error)
{
    if (!trusted_links(path, error))
        return NULL;
    char *resolved = memory_copy_string(path);
    struct stat status;
    while (lstat(resolved, &status) == 0 && S_ISLNK(status.st_mode)) {
        char *next = link_target(resolved);
        free(resolved);
        if (!next) {
            error_set_errno(error, ERROR_IO, errno, "cannot write to %s", path);
            return NULL;
        }
        resolved = next;
    }
    return resolved;
}

/* Random characters in the place of the last six of `name`; without random numbers, others at each
 * attempt: the name must be new, not secret. */
static void randomize_end(char *name, unsigned attempt)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        number = attempt;
    for (char *at = name + strlen(name) - 6; *at; at++) {
        *at = letters[number % (sizeof letters - 1)];
        number /= sizeof letters - 1;
    }
}

/* Opens a file that has no name yet; it can get one by way of /proc. -1 when that is not possible
 * here. */
static int open_nameless(const char *folder)
{
    if (access("/proc/self/fd", X_OK) != 0)
        return -1;
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/* A new file in the folder of file->path, without a name or under an unused one. */
static bool create_temporary(struct output_file *file, struct error *error)
{
    const char *slash = strrchr(file->path, '/');
    int folder_length = slash ? (int)(slash + 1 - file->path) : 0;
    char *folder =
        folder_length ? memory_format("%.*s", folder_length, file->path) : memory_copy_string("./");
    file->temporary = memory_format("%s.magic-trace-XXXXXX", folder);
    file->descriptor = open_nameless(folder);
    file->nameless = file->descriptor >= 0;
    if (!file->nameless)
        file->descriptor = mkostemp(file->temporary, O_CLOEXEC); /* mode 0600 */
    int errnum = errno;
    if (file->descriptor < 0)
        error_set_errno(error, errnum == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errnum,
                        "cannot create %s: its folder %s must exist and be writable", file->path,
                        folder);
    free(folder);
    return file->descriptor >= 0;
}

/* Gives the file its temporary name, if it has none yet. */
static bool give_name(struct output_file *file, struct error *error)
{
    enum { ATTEMPTS = 100 };
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", file->descriptor);
    for (unsigned i = 0; file->nameless && i < ATTEMPTS; i++) {
        randomize_end(file->temporary, i);
        if (linkat(AT_FDCWD, self, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0)
            file->nameless = false;
        else if (errno != EEXIST)
            break;
    }
    return !file->nameless ||
           error_set_errno(error, ERROR_IO, errno, "cannot give %s its name", file->path);
}

static bool create_or_free(struct output_file *file, struct error *error)
{
    if (create_temporary(file, error))
        return true;
    free(file->temporary);
    free(file->path);
    return false;
}

bool output_file_create(struct output_file *file, const char *path, struct error *error)
{
    *file = (struct output_file){.descriptor = -1};
    if (path[0] == 0)
        return error_set(error, ERROR_USAGE, "the name of the output file is empty");
    if (standard_descriptor(path) >= 0)
        return open_directly(file, path, error);
    file->path = resolve_link(path, error);
    if (!file->path)
        return false;
    struct stat status;
    bool exists = lstat(file->path, &status) == 0;
    if (!exists || S_ISREG(status.st_mode))
        return create_or_free(file, error);
    char *special = file->path;
    bool ok = !S_ISDIR(status.st_mode)
                  ? open_directly(file, special, error)
                  : error_set(error, ERROR_IO,
                              "cannot write to %s: it is a folder. Name a file in it", path);
    free(special);
    return ok;
}

bool output_file_recreate(struct output_file *file, const char *path, struct error *error)
{
    *file =
        (struct output_file){.descriptor = -1, .path = memory_copy_string(path), .forgets = true};
    return create_or_free(file, error);
}

/* Moves the temporary file to the final name, and what was there, if it is kept, to PATH.old. */
static bool replace(const struct output_file *file, struct error *error)
{
    char *old = memory_format("%s.old", file->path);
    bool moved = !file->forgets && rename(file->path, old) == 0;
    bool ok = true;
    if (!moved && !file->forgets && errno != ENOENT)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", file->path, old);
    if (ok && rename(file->temporary, file->path) != 0) {
        ok = error_set_errno(error, ERROR_IO, errno, "cannot rename %s to %s", file->temporary,
                             file->path);
        if (moved)
            (void)rename(old, file->path);
    }
    free(old);
    return ok;
}

bool output_file_commit(struct output_file *file, struct error *error)
{
    bool ok = !file->temporary || give_name(file, error);
    /* A file system may report a failed write as late as here (NFS, quotas). */
    if (close(file->descriptor) != 0 && ok)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot write to %s", file->path);
    if (file->temporary) {
        ok = ok && replace(file, error);
        if (!ok && !file->nameless)
            unlink(file->temporary);
    }
    free(file->temporary);
    free(file->path);
    return ok;
}

void output_file_abandon(struct output_file *file)
{
    close(file->descriptor);
    if (file->temporary && !file->nameless)
        unlink(file->temporary);
    free(file->temporary);
    free(file->path);
}

bool output_file_write(const char *path, const void *bytes, size_t size, struct error *error)
{
    struct output_file file;
    if (!output_file_create(&file, path, error))
        return false;
    file.forgets = true;
    if (file_write_all(file.descriptor, bytes, size, path, error))
        return output_file_commit(&file, error);
    output_file_abandon(&file);
    return false;
}

bool output_file_check(const char *path, struct error *error)
{
    /* A pipe is not opened: that would wait for its reader, or take the one it has. */
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return access(path, W_OK) == 0 ||
               error_set_errno(error, ERROR_IO, errno, "cannot write to %s", path);
    struct output_file file;
    if (!output_file_create(&file, path, error))
        return false;
    output_file_abandon(&file);
    return true;
}
