#include "engine/perf_event/threads.h"

#include "base/memory.h"

#include <dirent.h>
#include <stdlib.h>

void threads_list(struct array *tids, const struct kernel *kernel, pid_t pid)
{
    char *path = memory_format("%s/%d/task", kernel->proc, (int)pid);
    DIR *folder = opendir(path);
    free(path);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        long tid = strtol(entry->d_name, NULL, 10);
        if (tid > 0)
            *(pid_t *)array_add(tids) = (pid_t)tid;
    }
    closedir(folder);
}
