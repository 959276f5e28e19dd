#include "process/vdso.h"

#include "base/file.h"
#include "base/memory.h"
#include "process/maps_line.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Where it lies in our own memory; its path is left out. False: the kernel maps none. */
static bool find(struct maps_line *vdso)
{
    char *maps = file_read("/proc/self/maps", NULL, NULL), *rest = maps;
    bool found = false;
    while (!found && maps_line_next(&rest, vdso))
        found = strcmp(vdso->path, "[vdso]") == 0;
    free(maps);
    vdso->path = NULL;
    return found;
}

void vdso_keep(const char *directory)
{
    struct maps_line vdso;
    if (!find(&vdso))
        return;
    char *folder = memory_format("%s/images", directory);
    char *path = memory_format("%s/[vdso]", folder);
    if (file_make_directories(folder, NULL))
        file_replace(path, (const void *)vdso.start, vdso.end - vdso.start, NULL);
    free(path);
    free(folder);
}

int vdso_copy(uint64_t size)
{
    struct maps_line vdso;
    if (!find(&vdso) || vdso.end - vdso.start != size)
        return -1;
    int descriptor = memfd_create("[vdso]", MFD_CLOEXEC);
    if (descriptor >= 0 &&
        !file_write_all(descriptor, (const void *)vdso.start, size, "the copy of the vDSO", NULL)) {
        close(descriptor);
        descriptor = -1;
    }
    return descriptor;
}
