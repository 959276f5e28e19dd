#include "perf_event/threads.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

static bool is_at(const struct array *tids, size_t index, uint32_t tid)
{
    return index < tids->count && *(uint32_t *)array_at(tids, index) == tid;
}

bool threads_contain(const struct array *tids, pid_t tid)
{
    return is_at(tids, array_find_key(tids, (uint32_t)tid), (uint32_t)tid);
}

static void add(struct array *known, struct array *found, uint32_t tid)
{
    size_t index = array_find_key(known, tid);
    if (is_at(known, index, tid))
        return;
    *(uint32_t *)array_insert(known, index) = tid;
    if (found)
        array_add_all(found, &tid, 1);
}

int threads_list(struct array *known, struct array *found, const struct kernel *kernel, pid_t pid)
{
    char *path = memory_format("%s/%d/task", kernel->proc, (int)pid);
    DIR *folder = opendir(path);
    int problem = folder ? 0 : errno;
    free(path);
    if (!folder)
        return problem;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid > 0)
            add(known, found, tid);
    }
    closedir(folder);
    return 0;
}

void thread_search_begin(struct thread_search *search, const struct kernel *kernel, pid_t pid,
                         struct array *known)
{
    *search = (struct thread_search){
        .kernel = kernel,
        .pid = pid,
        .known = known,
        .found = array_of(sizeof(uint32_t)),
    };
}

bool thread_search_look(struct thread_search *search, struct error *error)
{
    enum { QUIET_ENOUGH = 2 };
    search->found.count = 0;
    int problem = threads_list(search->known, &search->found, search->kernel, search->pid);
    bool gone = problem == ENOENT || problem == ESRCH;
    if (problem && !gone)
        return error_set_errno(error, ERROR_IO, problem, "cannot list the threads of process %d",
                               (int)search->pid);
    search->quiet = search->found.count ? 0 : search->quiet + 1;
    search->over = gone || search->quiet == QUIET_ENOUGH;
    return true;
}

void thread_search_end(struct thread_search *search)
{
    array_free(&search->found);
}
