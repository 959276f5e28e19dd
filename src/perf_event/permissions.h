/* Explains, in full sentences, why the kernel refused an event.
 *
 * perf_event_open(2) says little: EACCES may mean the setting perf_event_paranoid, another user's
 * process or a security module. These functions look up the settings and the process's owner; the
 * message names the setting and the command that changes it.
 *
 * Used by all who open events: engine/pt/, engine/sample/, engine/perf/ (its probe), breakpoints.
 *
 * Sources: perf_event_open(2); Documentation/admin-guide/perf-security.rst and
 * admin-guide/sysctl/kernel.rst of Linux (perf_event_paranoid); kernel/events/core.c. Values above
 * 2 are those of Debian's and Ubuntu's kernels, which then refuse everything to unprivileged users;
 * in mainline they are like 2.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_PERMISSIONS_H
#define MAGIC_TRACE_PERF_EVENT_PERMISSIONS_H

#include "base/error.h"
#include "perf_event/kernel.h"

/* The request that was refused. */
struct event_request {
    const char *what; /* follows "cannot": "watch main in thread 12" */
    const struct perf_event_attr *attributes;
    pid_t pid; /* as given to open_event: a thread, 0: our own, -1: whole CPUs */
    int cpu;   /* -1: any */
};

/* Fills `error` for open_event's errno `problem`. Always returns false. */
bool event_refused(struct error *error, const struct kernel *kernel,
                   const struct event_request *request, int problem);

/* The same for a ring of `size` bytes whose mapping was refused. */
bool event_ring_refused(struct error *error, const struct kernel *kernel, uint64_t size,
                        int problem);

/* Warns when rings of `what` ("packets") became smaller than the default, when the user gave no
 * size. Both in bytes. */
void event_rings_kept_small(const char *what, uint64_t size, uint64_t wanted);

/* Whether the kernel lets this process do everything that perf_event_paranoid restricts: it has
 * CAP_PERFMON or CAP_SYS_ADMIN. (Root of a container may seem to.) */
bool event_privileged(const struct kernel *kernel);

/* kernel.perf_event_paranoid; 2, the default, when it cannot be read. */
int event_paranoia(const struct kernel *kernel);

#endif
