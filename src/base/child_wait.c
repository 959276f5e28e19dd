#include "base/child_wait.h"

#include <errno.h>
#include <sys/wait.h>

int child_wait(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, __WALL) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}
