/* Which files of a program are copied into its recording, and how two versions of a file are distinguished.
 *
 * For the recorder (kept_file.h, file_version.h) and for code that runs inside traced programs, without a C library
 * (runtime/translator/log/file_dump.h).
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_KEPT_FILE_RULES_H
#define MAGIC_TRACE_ENGINE_PACKETS_KEPT_FILE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes: copying this much takes some hundredths of a second. */
enum { LARGEST_KEPT_FILE = 32 << 20 };

/* The system's own files do not change while a program is recorded, and are not copied. */
static inline bool path_is_of_the_system(const char *path)
{
    static const char folders[][8] = {
        "/usr/", "/lib", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/", "/proc/", "/dev/",
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t at = 0;
        while (folders[i][at] && path[at] == folders[i][at])
            at++;
        if (!folders[i][at])
            return true;
    }
    return false;
}

/* By the time of the last write and the size. Never 0, which means none. */
static inline uint64_t kept_file_version(uint64_t seconds, uint64_t nanoseconds, uint64_t size)
{
    return ((seconds * 1000000000 + nanoseconds) ^ size << 40) | 1;
}

#endif
