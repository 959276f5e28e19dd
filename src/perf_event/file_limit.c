#include "perf_event/file_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* Whether one more file could be opened under this limit: files opened under the raised one stay
 * open. */
static bool leaves_room(uint64_t limit)
{
    int lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lowest >= 0)
        close(lowest);
    return lowest >= 0 && (uint64_t)lowest < limit;
}

void file_limit_restore(struct file_limit *limit)
{
    struct rlimit files;
    if (limit->raised && leaves_room(limit->before) && getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = limit->before;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    limit->raised = false;
}
