#include "engine/vdso_copy.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where it lies in our own memory (proc(5)). */
static bool find_own(const char **start, size_t *size)
{
    char *maps = file_read("/proc/self/maps", NULL, NULL);
    bool found = false;
    for (char *rest = maps, *line; !found && rest && (line = strsep(&rest, "\n"));) {
        unsigned long from, to;
        if (!strstr(line, "[vdso]") || sscanf(line, "%lx-%lx", &from, &to) != 2)
            continue;
        *start = (const char *)from;
        *size = to - from;
        found = true;
    }
    free(maps);
    return found;
}

bool vdso_copy(const char *directory, struct error *error)
{
    const char *start;
    size_t size;
    if (!find_own(&start, &size))
        return true;
    char *folder = memory_format("%s/images", directory);
    char *path = memory_format("%s/[vdso]", folder);
    int descriptor = file_make_directories(folder, error) ? file_create_private(path, error) : -1;
    bool ok = descriptor >= 0 && file_write_all(descriptor, start, size, path, error);
    if (descriptor >= 0)
        close(descriptor);
    free(path);
    free(folder);
    return ok;
}
