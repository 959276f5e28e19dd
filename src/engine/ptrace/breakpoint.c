#include "engine/ptrace/breakpoint.h"

#include "perf_event/event_attributes.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_breakpoint(pid_t tid, uint64_t address)
{
    struct perf_event_attr attributes = breakpoint_attributes(address);
    attributes.sigtrap = 1;
    attributes.remove_on_exec = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static const char *advice_for(int problem)
{
    switch (problem) {
    case EACCES:
    case EPERM:
        return "Run magic-trace as root, or lower /proc/sys/kernel/perf_event_paranoid.";
    case EINVAL:
        return "The ptrace engine needs Linux 5.13 or later.";
    case ENOSPC:
        return "All debug registers are in use: another debugger may be attached.";
    default:
        return "The processor's debug registers cannot be used here.";
    }
}

bool thread_breakpoints_open(struct thread_breakpoints *breakpoints, pid_t tid,
                             const uint64_t *addresses, size_t count, struct error *error)
{
    *breakpoints = (struct thread_breakpoints){0};
    for (size_t i = 0; i < count; i++) {
        int descriptor = open_breakpoint(tid, addresses[i]);
        if (descriptor < 0) {
            int problem = errno;
            thread_breakpoints_close(breakpoints);
            /* A thread that has just ended needs no watching. */
            if (problem == ESRCH)
                return true;
            error_set_errno(error, ERROR_IO, problem, "cannot watch 0x%llx in thread %d. %s",
                            (unsigned long long)addresses[i], (int)tid, advice_for(problem));
            return false;
        }
        breakpoints->addresses[breakpoints->count] = addresses[i];
        breakpoints->descriptors[breakpoints->count++] = descriptor;
    }
    return true;
}

bool thread_breakpoints_are_at(const struct thread_breakpoints *breakpoints, uint64_t address)
{
    for (size_t i = 0; i < breakpoints->count; i++)
        if (breakpoints->addresses[i] == address)
            return true;
    return false;
}

void thread_breakpoints_close(struct thread_breakpoints *breakpoints)
{
    for (size_t i = 0; i < breakpoints->count; i++)
        close(breakpoints->descriptors[i]);
    breakpoints->count = 0;
}
