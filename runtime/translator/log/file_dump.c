#include "runtime/translator/log/file_dump.h"

#include "engine/packets/kept_file_rules.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/code_dump.h"
#include "runtime/translator/system.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

enum { FILE_TYPE = 0170000, REGULAR_FILE = 0100000 }; /* S_IFMT, S_IFREG */

static uint64_t version_of(const struct stat *status)
{
    return kept_file_version((uint64_t)status->st_mtime, (uint64_t)status->st_mtime_nsec,
                             (uint64_t)status->st_size);
}

static bool is_copied(struct tr_control *control, uint64_t inode, uint64_t version)
{
    for (unsigned i = 0; i < TR_KEPT_FILES; i++) {
        const struct tr_kept_file *file = &control->kept_files[i];
        if (atomic_load(&file->version) == version && file->inode == inode)
            return true;
    }
    return false;
}

static bool read_all(struct tr_control *control, int64_t descriptor, uint64_t to, uint64_t size)
{
    enum { AT_ONCE = 128 << 10 }; /* bytes: takes less than the clock stands by itself */
    while (size > 0) {
        uint64_t wanted = size < AT_ONCE ? size : AT_ONCE;
        int64_t got = tr_syscall(__NR_read, (uint64_t)descriptor, to, wanted);
        tr_clock_prolong_work(control);
        if (got <= 0)
            return false;
        to += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return true;
}

/* Of a file that is not copied yet. */
static bool copy(struct tr_process *process, int64_t descriptor, const struct stat *status)
{
    struct tr_control *control = process->control;
    uint64_t size = (uint64_t)status->st_size, offset;
    if (atomic_load(&control->kept_count) >= TR_KEPT_FILES ||
        atomic_load(&control->dump_tail) > control->dump_size / 2)
        return false;
    uint64_t place = tr_dump_reserve(process, size, &offset);
    if (!place || !read_all(control, descriptor, place, size))
        return false;
    uint32_t index = atomic_fetch_add(&control->kept_count, 1);
    if (index >= TR_KEPT_FILES)
        return false;
    struct tr_kept_file *file = &control->kept_files[index];
    file->inode = status->st_ino;
    file->offset = offset;
    file->size = size;
    atomic_store(&file->version, version_of(status));
    return true;
}

static uint64_t copy_if_new(struct tr_process *process, int64_t descriptor, uint64_t inode)
{
    struct stat status;
    if (tr_syscall(__NR_fstat, (uint64_t)descriptor, (uint64_t)&status, 0) != 0 ||
        (status.st_mode & FILE_TYPE) != REGULAR_FILE || status.st_ino != inode ||
        status.st_size <= 0 || status.st_size > LARGEST_KEPT_FILE)
        return 0;
    uint64_t version = version_of(&status);
    if (!is_copied(process->control, inode, version) && !copy(process, descriptor, &status))
        return 0;
    return version;
}

uint64_t tr_file_dump(struct tr_process *process, const char *path, uint64_t inode)
{
    if (path[0] != '/' || path_is_of_the_system(path) || atomic_load(&process->control->frozen))
        return 0;
    int64_t descriptor = tr_syscall6(__NR_openat, (uint64_t)AT_FDCWD, (uint64_t)path,
                                     O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
    if (descriptor < 0)
        return 0;
    uint64_t version = copy_if_new(process, descriptor, inode);
    tr_syscall(__NR_close, (uint64_t)descriptor, 0, 0);
    return version;
}
