#include "process/trace_permission.h"

#include "base/file.h"

#include <stdlib.h>
#include <unistd.h>

/* Values of kernel.yama.ptrace_scope. */
enum { SCOPE_CLASSIC, SCOPE_DESCENDANTS, SCOPE_ROOT, SCOPE_NOBODY };

/* Kernels without Yama have no such file. */
static long ptrace_scope(void)
{
    char *text = file_read("/proc/sys/kernel/yama/ptrace_scope", NULL, NULL);
    long scope = text ? strtol(text, NULL, 10) : SCOPE_CLASSIC;
    free(text);
    return scope;
}

const char *trace_permission_reason(void)
{
    long scope = ptrace_scope();
    if (scope == SCOPE_NOBODY)
        return "kernel.yama.ptrace_scope is 3, which forbids tracing to all users, root included, "
               "until the machine starts again";
    if (geteuid() == 0)
        return "root lacks a capability here. In a container, start it with `docker run --cap-add "
               "SYS_PTRACE`; else run magic-trace where the process was started from";
    if (scope == SCOPE_ROOT)
        return "kernel.yama.ptrace_scope is 2, which allows it to root alone. Run magic-trace as "
               "root";
    if (scope == SCOPE_DESCENDANTS)
        return "kernel.yama.ptrace_scope is 1, which allows it to root and to who started the "
               "process alone. Run magic-trace as root, or set it to 0: sudo sysctl "
               "kernel.yama.ptrace_scope=0";
    return "it belongs to another user, or is protected, as programs with a setuid bit are. Run "
           "magic-trace as root";
}
