#include "engine/perf_event/file_limit.h"

#include <sys/resource.h>

bool file_limit_raise(struct file_limit *limit)
{
    struct rlimit files;
    if (limit->raised || getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max)
        return false;
    limit->before = files.rlim_cur;
    files.rlim_cur = files.rlim_max;
    limit->raised = setrlimit(RLIMIT_NOFILE, &files) == 0;
    return limit->raised;
}

void file_limit_restore(struct file_limit *limit)
{
    struct rlimit files;
    if (limit->raised && getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = limit->before;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    limit->raised = false;
}
