#include "analysis/query/descriptor_vfs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct descriptor_file {
    sqlite3_file base;
    struct descriptor_vfs *vfs;
};

static struct descriptor_vfs *vfs_of(sqlite3_file *file)
{
    return ((struct descriptor_file *)file)->vfs;
}

/* ---- the file ---- */

static int close_file(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

/* What lies after the file's end reads as zeros, as SQLite requires. */
static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset)
{
    int done = 0;
    while (done < size) {
        ssize_t got = pread(vfs_of(file)->descriptor, (char *)bytes + done, (size_t)(size - done),
                            (off_t)offset + done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return SQLITE_IOERR_READ;
        if (got == 0) {
            memset((char *)bytes + done, 0, (size_t)(size - done));
            return SQLITE_IOERR_SHORT_READ;
        }
        done += (int)got;
    }
    return SQLITE_OK;
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset)
{
    int done = 0;
    while (done < size) {
        ssize_t put = pwrite(vfs_of(file)->descriptor, (const char *)bytes + done,
                             (size_t)(size - done), (off_t)offset + done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            vfs_of(file)->error = put < 0 ? errno : ENOSPC;
            return vfs_of(file)->error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
        }
        done += (int)put;
    }
    return SQLITE_OK;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    return ftruncate(vfs_of(file)->descriptor, (off_t)size) == 0 ? SQLITE_OK
                                                                 : SQLITE_IOERR_TRUNCATE;
}

static int sync_file(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *size)
{
    struct stat status;
    if (fstat(vfs_of(file)->descriptor, &status) != 0)
        return SQLITE_IOERR_FSTAT;
    *size = status.st_size;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level)
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *locked)
{
    (void)file;
    *locked = 0;
    return SQLITE_OK;
}

static int control_file(sqlite3_file *file, int operation, void *argument)
{
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
    enum { SECTOR = 4096 };
    (void)file;
    return SECTOR;
}

static int characteristics(sqlite3_file *file)
{
    (void)file;
    return 0;
}

/* ---- opening ---- */

static int open_file(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags,
                     int *opened_flags)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = close_file,
        .xRead = read_file,
        .xWrite = write_file,
        .xTruncate = truncate_file,
        .xSync = sync_file,
        .xFileSize = size_of_file,
        .xLock = lock_file,
        .xUnlock = lock_file,
        .xCheckReservedLock = check_lock,
        .xFileControl = control_file,
        .xSectorSize = sector_size,
        .xDeviceCharacteristics = characteristics,
    };
    struct descriptor_vfs *vfs = (struct descriptor_vfs *)base;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return vfs->usual->xOpen(vfs->usual, name, file, flags, opened_flags);
    *(struct descriptor_file *)file = (struct descriptor_file){{&methods}, vfs};
    if (opened_flags)
        *opened_flags = flags;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *base, const char *name, int sync)
{
    struct descriptor_vfs *vfs = (struct descriptor_vfs *)base;
    return vfs->usual->xDelete(vfs->usual, name, sync);
}

/* The database has no journal beside it. */
static int access_file(sqlite3_vfs *base, const char *name, int flags, int *result)
{
    (void)base;
    (void)name;
    (void)flags;
    *result = 0;
    return SQLITE_OK;
}

static int whole_name(sqlite3_vfs *base, const char *name, int size, char *whole)
{
    (void)base;
    sqlite3_snprintf(size, whole, "%s", name);
    return SQLITE_OK;
}

static int randomness(sqlite3_vfs *base, int size, char *bytes)
{
    struct descriptor_vfs *vfs = (struct descriptor_vfs *)base;
    return vfs->usual->xRandomness(vfs->usual, size, bytes);
}

static int wait_for(sqlite3_vfs *base, int microseconds)
{
    struct descriptor_vfs *vfs = (struct descriptor_vfs *)base;
    return vfs->usual->xSleep(vfs->usual, microseconds);
}

static int current_time(sqlite3_vfs *base, double *time)
{
    struct descriptor_vfs *vfs = (struct descriptor_vfs *)base;
    return vfs->usual->xCurrentTime(vfs->usual, time);
}

int descriptor_vfs_begin(struct descriptor_vfs *vfs, int descriptor)
{
    enum { NAME_MAX_LENGTH = 512 };
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    int size = (int)sizeof(struct descriptor_file);
    *vfs = (struct descriptor_vfs){
        .base =
            {
                .iVersion = 1,
                .szOsFile = size > usual->szOsFile ? size : usual->szOsFile,
                .mxPathname = NAME_MAX_LENGTH,
                .zName = DESCRIPTOR_VFS_NAME,
                .xOpen = open_file,
                .xDelete = delete_file,
                .xAccess = access_file,
                .xFullPathname = whole_name,
                .xRandomness = randomness,
                .xSleep = wait_for,
                .xCurrentTime = current_time,
            },
        .usual = usual,
        .descriptor = descriptor,
    };
    return sqlite3_vfs_register(&vfs->base, 0);
}

void descriptor_vfs_end(struct descriptor_vfs *vfs)
{
    sqlite3_vfs_unregister(&vfs->base);
}
