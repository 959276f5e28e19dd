#include "process/vdso.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where it lies in our own memory; false when it does not. */
static bool find(unsigned long *start, unsigned long *end)
{
    char *maps = file_read("/proc/self/maps", NULL, NULL), *rest = maps;
    bool found = false;
    for (char *line; !found && rest && (line = strsep(&rest, "\n"));)
        found = strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", start, end) == 2;
    free(maps);
    return found;
}

void vdso_keep(const char *directory)
{
    unsigned long start, end;
    if (!find(&start, &end))
        return;
    char *folder = memory_format("%s/images", directory);
    char *path = memory_format("%s/[vdso]", folder);
    int descriptor = file_make_directories(folder, NULL) ? file_create_private(path, NULL) : -1;
    if (descriptor >= 0) {
        bool kept = file_write_all(descriptor, (const void *)start, end - start, path, NULL);
        close(descriptor);
        if (!kept)
            unlink(path);
    }
    free(path);
    free(folder);
}

int vdso_copy(uint64_t size)
{
    unsigned long start, end;
    if (!find(&start, &end) || end - start != size)
        return -1;
    int descriptor = memfd_create("[vdso]", MFD_CLOEXEC);
    if (descriptor >= 0 &&
        !file_write_all(descriptor, (const void *)start, size, "the copy of the vDSO", NULL)) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}
