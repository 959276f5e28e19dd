#include "engine/qemu/control.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/tsc.h"
#include "engine/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct qemu_control *map(int descriptor, const char *path, struct error *error)
{
    void *mapped = mmap(NULL, QEMU_LOG_OFFSET, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapped != MAP_FAILED)
        return mapped;
    error_set_errno(error, ERROR_IO, errno, "cannot map %s", path);
    return NULL;
}

static struct qemu_control *create_file(const char *path, struct error *error)
{
    int descriptor = file_create_private(path, error);
    if (descriptor < 0)
        return NULL;
    struct qemu_control *control = NULL;
    int failed = posix_fallocate(descriptor, 0, QEMU_LOG_OFFSET + QEMU_LOG_STEP);
    if (failed == ENOSPC || failed == EDQUOT)
        error_set(error, ERROR_IO,
                  "cannot make %s of %d bytes: the disk is full. Free some space, or record into "
                  "another folder.",
                  path, QEMU_LOG_OFFSET + QEMU_LOG_STEP);
    else if (failed)
        error_set_errno(error, ERROR_IO, failed, "cannot allocate space for %s", path);
    else
        control = map(descriptor, path, error);
    close(descriptor);
    if (!control)
        unlink(path);
    return control;
}

static bool make_folder(const char *directory, const char *name, struct error *error)
{
    char *path = memory_format("%s/%s", directory, name);
    bool ok = file_make_directories(path, error);
    free(path);
    return ok;
}

static void remove_empty_folder(const char *directory, const char *name)
{
    char *path = memory_format("%s/%s", directory, name);
    rmdir(path);
    free(path);
}

struct qemu_control *control_create(const char *directory, const struct qemu_options *options,
                                    struct error *error)
{
    char *path = memory_format("%s/soft/control", directory);
    bool unfinished = access(path, F_OK) == 0;
    struct qemu_control *control = NULL;
    if (unfinished)
        error_set(
            error, ERROR_USAGE,
            "cannot record into %s: it holds a recording that was not finished. Finish it with "
            "magic-trace decode %s, or remove the folder.",
            directory, directory);
    else if (make_folder(directory, "soft", error) && make_folder(directory, "images", error))
        control = create_file(path, error);
    free(path);
    if (!control && !unfinished) {
        remove_empty_folder(directory, "soft");
        remove_empty_folder(directory, "images");
    }
    if (!control)
        return NULL;
    control->version = QEMU_VERSION;
    control->options = *options;
    atomic_store(&control->log_allocated, QEMU_LOG_STEP);
    control->magic = QEMU_CONTROL_MAGIC;
    return control;
}

static bool check(const struct qemu_control *control, const char *path, struct error *error)
{
    if (control->magic != QEMU_CONTROL_MAGIC)
        return error_set(error, ERROR_FORMAT,
                         "%s is not the control file of a recording: its first word is %08x, not "
                         "%08x. It was damaged, or magic-trace was killed while making it.",
                         path, control->magic, QEMU_CONTROL_MAGIC);
    if (control->version != QEMU_VERSION)
        return error_set(
            error, ERROR_UNSUPPORTED,
            "%s was made by another version of magic-trace (its layout is %u, this one "
            "knows %d). Finish the recording with the version that began it.",
            path, control->version, QEMU_VERSION);
    if (control->options.tsc_hz == 0)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: it says that its clock has 0 ticks in a second. The times "
                         "of this recording are lost; record again.",
                         path);
    return true;
}

struct qemu_control *control_open(const char *directory, struct error *error)
{
    char *path = memory_format("%s/soft/control", directory);
    struct qemu_control *control = NULL;
    struct stat status;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &status) != 0)
        error_set_errno(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_IO, errno,
                        "cannot open %s", path);
    else if (status.st_size < QEMU_LOG_OFFSET)
        error_set(error, ERROR_FORMAT, "%s is damaged: it has %lld bytes instead of at least %d",
                  path, (long long)status.st_size, QEMU_LOG_OFFSET);
    else
        control = map(descriptor, path, error);
    if (descriptor >= 0)
        close(descriptor);
    if (control && !check(control, path, error)) {
        control_close(control);
        control = NULL;
    }
    free(path);
    return control;
}

/* The time of a thread that does not run: runtime/qemu_plugin/clock.h. */
static uint64_t idle_time(const struct qemu_control *control)
{
    switch ((enum record_clock)control->options.clock) {
    case RECORD_CLOCK_INSTRUCTIONS:
        return 0;
    case RECORD_CLOCK_HOST:
        return tsc_now();
    case RECORD_CLOCK_DEFAULT:
        break;
    }
    return tsc_now() - atomic_load(&control->stolen);
}

void control_freeze(struct qemu_control *control)
{
    if (atomic_load(&control->frozen))
        return;
    atomic_store(&control->frozen_at, idle_time(control));
    atomic_store(&control->frozen, 1);
}

/* The size of the log, at most that of the file, whatever the header claims. */
static size_t log_size(const struct qemu_control *control, const struct file_view *view)
{
    uint64_t size = atomic_load(&control->log_tail);
    uint64_t room = view->size < QEMU_LOG_OFFSET ? 0 : view->size - QEMU_LOG_OFFSET;
    return size < room ? size : room;
}

struct recorded control_recorded(const struct qemu_control *control, const struct file_view *view)
{
    const struct qemu_options *options = &control->options;
    return (struct recorded){
        .log = view->bytes + QEMU_LOG_OFFSET,
        .log_size = log_size(control, view),
        .clock = (enum record_clock)options->clock,
        .started = options->start_realtime_ns,
        .frozen_at = atomic_load(&control->frozen_at),
        .multi_snapshot = options->trigger.multi_snapshot && !options->full_execution,
        .snapshots = atomic_load(&control->snapshots),
        .snapshot_size = options->full_execution ? 0 : options->snapshot_size,
        .bus_ratio = options->bus_ratio,
        .packets = {.coarse_time = options->coarse_time != 0,
                    .periods = options->periods != 0,
                    .all_returns = options->all_returns != 0},
        .lost_rings = atomic_load(&control->lost_rings),
        .lost_records = atomic_load(&control->lost_records),
    };
}

void control_close(struct qemu_control *control)
{
    if (control)
        munmap(control, QEMU_LOG_OFFSET);
}
