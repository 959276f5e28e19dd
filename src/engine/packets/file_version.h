/* Distinguishes versions of a file at the same path, perhaps in the same inode, by the time of the
 * last write and the size.
 *
 * Used by the plugin, which names copies by it, and by the recorder, which finds them.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_FILE_VERSION_H
#define MAGIC_TRACE_ENGINE_PACKETS_FILE_VERSION_H

#include "engine/packets/kept_file_rules.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

enum { FILE_VERSION_SUFFIX_SIZE = 18 }; /* "~", 16 digits, NUL */

/* Never 0, which means none. A copy with the same size and time has the same version. */
static inline uint64_t file_version(const struct stat *status)
{
    return kept_file_version((uint64_t)status->st_mtim.tv_sec, (uint64_t)status->st_mtim.tv_nsec,
                             (uint64_t)status->st_size);
}

/* A time of the last write that gives a file of this size the version. */
static inline struct timespec file_version_time(uint64_t version, uint64_t size)
{
    uint64_t written = version ^ size << 40;
    return (struct timespec){(time_t)(written / 1000000000), (long)(written % 1000000000)};
}

/* The suffix of the path of a copy when another version has its place. */
static inline void file_version_suffix(char suffix[FILE_VERSION_SUFFIX_SIZE], uint64_t version)
{
    snprintf(suffix, FILE_VERSION_SUFFIX_SIZE, "~%016llx", (unsigned long long)version);
}

#endif
