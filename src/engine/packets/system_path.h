/* Which files are the system's own: they do not change while a program is recorded, and are not copied into recordings.
 *
 * For the recorder and for code that runs inside traced programs, without a C library.
 */
#ifndef MAGIC_TRACE_ENGINE_PACKETS_SYSTEM_PATH_H
#define MAGIC_TRACE_ENGINE_PACKETS_SYSTEM_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes: copying this much takes some hundredths of a second. */
enum { LARGEST_KEPT_FILE = 32 << 20 };

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

#endif
