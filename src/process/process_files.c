#include "process/process_files.h"

#include "base/file.h"
#include "base/memory.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* `what` of /proc/PID: a link that stat follows. */
static bool has_our(pid_t pid, const char *what)
{
    char path[64], own[64];
    struct stat ours, theirs;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    snprintf(own, sizeof own, "/proc/self/%s", what);
    return stat(own, &ours) != 0 || stat(path, &theirs) != 0 || file_is_same(&ours, &theirs);
}

bool process_files_are_ours(pid_t pid)
{
    return has_our(pid, "root/") && has_our(pid, "ns/mnt");
}

static int open_of(pid_t pid, const char *what, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    return open(path, flags | O_CLOEXEC);
}

struct process_files process_files_hold(pid_t pid)
{
    if (process_files_are_ours(pid))
        return (struct process_files){-1, -1};
    return (struct process_files){open_of(pid, "root", O_PATH | O_DIRECTORY),
                                  open_of(pid, "ns/mnt", O_RDONLY)};
}

void process_files_release(struct process_files *files)
{
    if (files->root >= 0)
        close(files->root);
    if (files->mounts >= 0)
        close(files->mounts);
    *files = (struct process_files){-1, -1};
}

/* A container's devices and FIFOs are not opened: what is at the path is looked at first. */
int process_files_open(const struct process_files *files, const char *path)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
    };
    struct stat status;
    char link[64];
    int place =
        files->root < 0 ? -1 : (int)syscall(SYS_openat2, files->root, path, &how, sizeof how);
    if (place < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", place);
    bool regular = fstat(place, &status) == 0 && S_ISREG(status.st_mode);
    int file = regular ? open(link, O_RDONLY | O_CLOEXEC) : -1;
    close(place);
    return file;
}

/* ---- paths of ours ---- */

char *process_file_path(pid_t pid, const char *path, const struct stat *mapped)
{
    struct stat status;
    if (process_files_are_ours(pid) || (stat(path, &status) == 0 && file_is_same(&status, mapped)))
        return memory_copy_string(path);
    char *through = memory_format("/proc/%d/root%s", (int)pid, path);
    if (stat(through, &status) == 0)
        return through;
    free(through);
    return memory_copy_string(path);
}

/* The length of "/proc/PID/root"; 0: `path` does not begin with it. */
static size_t length_of_beginning(const char *path)
{
    int length = 0;
    return sscanf(path, "/proc/%*[0-9]/root%n", &length) == 0 && length > 0 && path[length] == '/'
               ? (size_t)length
               : 0;
}

const char *process_file_path_within(const char *path)
{
    return path + length_of_beginning(path);
}

char *process_file_real_path(const char *path)
{
    char *real = length_of_beginning(path) > 0 ? NULL : realpath(path, NULL);
    return real ? real : memory_copy_string(path);
}
