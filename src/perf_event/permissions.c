#include "perf_event/permissions.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "recording/flags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bits of the capability sets, linux/capability.h. */
enum { CAPABILITY_SYS_ADMIN = 21, CAPABILITY_PERFMON = 38 };

/* cap_ipc_lock is for the rings. */
#define PRIVILEGE                                                                                  \
    "run magic-trace as root, or give it the privilege: `sudo setcap cap_perfmon,cap_ipc_lock=ep " \
    "\"$(command -v magic-trace)\"`."

/* ---- settings ---- */

/* A file of /proc; the caller frees; NULL: none. */
static char *read_proc(const struct kernel *kernel, const char *name)
{
    char *path = memory_format("%s/%s", kernel->proc, name);
    char *text = file_read(path, NULL, NULL);
    free(path);
    return text;
}

int event_paranoia(const struct kernel *kernel)
{
    char *text = read_proc(kernel, "sys/kernel/perf_event_paranoid");
    int value = text ? atoi(text) : 2;
    free(text);
    return value;
}

bool event_privileged(const struct kernel *kernel)
{
    static const char key[] = "\nCapEff:";
    char *text = read_proc(kernel, "self/status");
    const char *line = text ? strstr(text, key) : NULL;
    uint64_t set = line ? strtoull(line + sizeof key - 1, NULL, 16) : 0;
    free(text);
    return set >> CAPABILITY_SYS_ADMIN & 1 || set >> CAPABILITY_PERFMON & 1;
}

/* The file is not read: there may be no descriptor left for that. */
static bool kernel_has_events(const struct kernel *kernel)
{
    char *path = memory_format("%s/sys/kernel/perf_event_paranoid", kernel->proc);
    bool has = access(path, F_OK) == 0;
    free(path);
    return has;
}

/* The user that owns the process. Root if the process protects itself, as one with changed
 * privileges does (proc(5)); ourselves if there is no such process. */
static uid_t owner_of(const struct kernel *kernel, pid_t pid)
{
    struct stat status;
    char *path = memory_format("%s/%d", kernel->proc, (int)pid);
    bool found = stat(path, &status) == 0;
    free(path);
    return found ? status.st_uid : geteuid();
}

static unsigned long long limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 ? (unsigned long long)limit.rlim_cur : 0;
}

/* ---- not permitted ---- */

static bool paranoia_refused(struct error *error, const struct event_request *request, int paranoia,
                             int wanted, const char *forbidden)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "cannot %s: /proc/sys/kernel/perf_event_paranoid is %d, which forbids %s to "
                     "users without privileges. Allow it with `sudo sysctl "
                     "kernel.perf_event_paranoid=%d`, or " PRIVILEGE,
                     request->what, paranoia, forbidden, wanted);
}

static bool owner_refused(struct error *error, const struct event_request *request, uid_t owner)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "cannot %s: it belongs to another user (%u; this is %u), or protects itself "
                     "as programs do that change their user. Run magic-trace as that user, or as "
                     "root, or give it the privilege: `sudo setcap "
                     "cap_perfmon,cap_ipc_lock,cap_sys_ptrace=ep \"$(command -v "
                     "magic-trace)\"`.",
                     request->what, (unsigned)owner, (unsigned)geteuid());
}

static bool module_refused(struct error *error, const struct event_request *request, int problem)
{
    return error_set(error, ERROR_UNSUPPORTED,
                     "cannot %s: %s, though the settings of perf allow it. A container's filter of "
                     "system calls may forbid it (start the container with `docker run --cap-add "
                     "PERFMON --security-opt seccomp=unconfined`), or a security module (SELinux, "
                     "AppArmor, lockdown: see the end of `sudo dmesg`).",
                     request->what, strerror(problem));
}

static bool permission_refused(struct error *error, const struct kernel *kernel,
                               const struct event_request *request, int problem)
{
    int paranoia = event_paranoia(kernel);
    if (event_privileged(kernel))
        return module_refused(error, request, problem);
    if (request->pid == -1 && paranoia > 0)
        return paranoia_refused(error, request, paranoia, 0, "recording whole processors");
    if (!request->attributes->exclude_kernel && paranoia > 1)
        return paranoia_refused(error, request, paranoia, 1, "recording the kernel");
    uid_t owner = request->pid > 0 ? owner_of(kernel, request->pid) : geteuid();
    if (owner != geteuid())
        return owner_refused(error, request, owner);
    if (paranoia > 2)
        return paranoia_refused(error, request, paranoia, 2, "all recording");
    return module_refused(error, request, problem);
}

/* ---- other errors ---- */

/* Texts without figures: the cause, and what to do. NULL: this errno has no known cause. */
static const char *reason_of(const struct event_request *request, int problem)
{
    bool breakpoint = request->attributes->type == PERF_TYPE_BREAKPOINT;
    switch (problem) {
    case ENOSPC:
        return breakpoint ? "the processor has no debug register left for it (it has four per "
                            "thread). Take a trigger with fewer places, or end the debugger or "
                            "other tracer that uses them."
                          : "no room for it is left in the processor's unit. End what else uses "
                            "it (perf, another magic-trace).";
    case EBUSY:
        return "another program uses the processor's unit, which has room for one. End it: "
               "look for perf or another magic-trace in `ps -ef`.";
    case ESRCH:
        return "there is no such thread: it has ended. Look for the process with `ps -ef`.";
    case ENODEV:
        return request->cpu >= 0 ? "the processor is offline, or has no such unit. See "
                                   "/sys/devices/system/cpu/online."
                                 : "this machine has no such unit.";
    case ENOENT:
    case EOPNOTSUPP:
        return "this machine has no such event: virtual machines often lack the hardware's "
               "counters. Choose another engine with " FLAG_ENGINE ", see magic-trace doctor.";
    case ENOMEM:
        return "the kernel is out of memory.";
    case ENFILE:
        return "the system's open files are used up. Raise their number: `sudo sysctl "
               "fs.file-max=1000000`.";
    case EINVAL:
    case E2BIG:
        return breakpoint ? "this kernel does not know how to, or this machine has no "
                            "breakpoints for it (32-bit addresses, some virtual machines). Linux "
                            "5.13 or later is best."
                          : "this kernel does not know one of the settings. A newer one may.";
    default:
        return NULL;
    }
}

bool event_refused(struct error *error, const struct kernel *kernel,
                   const struct event_request *request, int problem)
{
    if (problem == ENOSYS || !kernel_has_events(kernel))
        return error_set(error, ERROR_UNSUPPORTED,
                         "cannot %s: this kernel has no perf_event_open (it was built without "
                         "CONFIG_PERF_EVENTS, or a sandbox hides it).",
                         request->what);
    if (problem == EACCES || problem == EPERM)
        return permission_refused(error, kernel, request, problem);
    if (problem == EMFILE)
        return error_set(error, ERROR_IO,
                         "cannot %s: magic-trace may have no more than %llu open files, and needs "
                         "some per thread and processor. Raise the limit with `ulimit -n "
                         "1000000` as root, or leave " FLAG_MULTI_THREAD " out.",
                         request->what, limit_of(RLIMIT_NOFILE));
    const char *reason = reason_of(request, problem);
    if (reason)
        return error_set(error, problem == ESRCH ? ERROR_NOT_FOUND : ERROR_UNSUPPORTED,
                         "cannot %s: %s", request->what, reason);
    return error_set_errno(error, ERROR_IO, problem, "cannot %s", request->what);
}

bool event_ring_refused(struct error *error, const struct kernel *kernel, uint64_t size,
                        int problem)
{
    if (problem != EPERM && problem != ENOMEM)
        return error_set_errno(error, ERROR_IO, problem,
                               "cannot map a ring of %llu bytes for the kernel's records",
                               (unsigned long long)size);
    if (problem == ENOMEM)
        return error_set(error, ERROR_IO,
                         "cannot map a ring of %llu bytes for the kernel's records: there is not "
                         "enough memory. Use a smaller " FLAG_SNAPSHOT_SIZE ".",
                         (unsigned long long)size);
    char *text = read_proc(kernel, "sys/kernel/perf_event_mlock_kb");
    uint64_t own = text ? strtoull(text, NULL, 10) : 0;
    free(text);
    return error_set(
        error, ERROR_UNSUPPORTED,
        "cannot map a ring of %llu bytes for the kernel's records: this user may lock "
        "%llu KiB of memory per processor for perf (/proc/sys/kernel/perf_event_mlock_kb) and "
        "%llu KiB besides (ulimit -l). Use a smaller " FLAG_SNAPSHOT_SIZE ", raise the limit with "
        "`sudo sysctl kernel.perf_event_mlock_kb=%llu`, or " PRIVILEGE,
        (unsigned long long)size, (unsigned long long)own, limit_of(RLIMIT_MEMLOCK) / 1024,
        (unsigned long long)own + size / 1024 * 2);
}

void event_rings_kept_small(const char *what, uint64_t size, uint64_t wanted)
{
    if (size < wanted)
        log_warning("a ring keeps %llu KiB of %s and not %llu: this user may not lock more memory. "
                    "As root, or after `sudo sysctl kernel.perf_event_mlock_kb=%llu`, it would "
                    "keep more.",
                    (unsigned long long)size / 1024, what, (unsigned long long)wanted / 1024,
                    (unsigned long long)wanted / 1024 * 2);
}
