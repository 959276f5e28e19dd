#include "engine/disk_reserve.h"

#include "base/log.h"
#include "base/monotonic.h"
#include "base/smaller.h"
#include "recording/flags.h"

#include <stddef.h>
#include <sys/statvfs.h>

/* Some MB are recorded in between; what is copied comes faster than samples. */
enum { LOOK_MS = 100, LOOK_COPIED_MS = 10, PERCENT = 5 };
static const uint64_t most = UINT64_C(1) << 30;
/* What the kernel's rings may hold when recording ends, and is written then. */
static const uint64_t in_rings = UINT64_C(64) << 20;

void disk_reserve_begin(struct disk_reserve *reserve, const char *folder, bool copied)
{
    struct statvfs disk;
    *reserve = (struct disk_reserve){0};
    if (statvfs(folder, &disk) != 0 || disk.f_blocks == 0)
        return;
    uint64_t total = disk.f_blocks * disk.f_frsize, available = disk.f_bavail * disk.f_frsize;
    uint64_t wanted = smaller(smaller(total / 100 * PERCENT, most), available / 2);
    reserve->folder = folder;
    reserve->look_ms = copied ? LOOK_COPIED_MS : LOOK_MS;
    /* A copy takes as much as there is then, and what has not been written yet comes on top. */
    uint64_t rest = copied ? (available - wanted) / 8 * 5 : smaller(available / 4, in_rings);
    reserve->least = wanted + rest;
}

int disk_reserve_patience(const struct disk_reserve *reserve)
{
    return reserve->folder ? reserve->look_ms : -1;
}

bool disk_reserve_is_reached(struct disk_reserve *reserve)
{
    struct statvfs disk;
    uint64_t now = monotonic_ns();
    if (!reserve->folder || now - reserve->looked_ns < (uint64_t)reserve->look_ms * 1000000)
        return false;
    reserve->looked_ns = now;
    if (statvfs(reserve->folder, &disk) != 0 ||
        (uint64_t)disk.f_bavail * disk.f_frsize >= reserve->least)
        return false;
    log_warning("recording ends here, so that the disk of %s does not fill up; the program runs "
                "on. Free some space, record into another folder (" FLAG_WORKING_DIRECTORY
                "), or leave out " FLAG_FULL_EXECUTION " to keep the end instead of the beginning.",
                reserve->folder);
    reserve->folder = NULL;
    return true;
}
