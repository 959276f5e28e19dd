/* The kernel, as far as recording by perf_event_open(2) needs it.
 *
 * The engines make these calls only through this table, so that tests can replace the kernel by a
 * stand-in that fills rings with prepared packets, loses records, and refuses events: the machine
 * that runs the tests may have no Intel PT. Descriptors are always real ones (a stand-in returns
 * eventfds), so poll(2), epoll(7) and close(2) are called directly.
 *
 * Used by everything in src/perf_event/, engine/pt/ and engine/sample/.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_KERNEL_H
#define MAGIC_TRACE_PERF_EVENT_KERNEL_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel {
    /* As the system calls of these names: -1 (mmap: MAP_FAILED) and errno on failure. `pid`, `cpu`,
     * `group`, `flags` as in perf_event_open(2); `argument` is a number or an address, as the ioctl
     * requires. */
    int (*open_event)(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags);
    int (*control)(const struct kernel *kernel, int event, unsigned long request,
                   unsigned long argument);
    void *(*map)(const struct kernel *kernel, size_t size, int protection, int event,
                 uint64_t offset);
    int (*unmap)(const struct kernel *kernel, void *address, size_t size);
    /* Where the file systems of these names are, without a slash at the end. */
    const char *sysfs, *proc;
};

/* The running kernel. */
extern const struct kernel kernel_real;

#endif
