/* The kernel, as far as recording by perf_event_open(2) needs it.
 *
 * The engines call it through this table and nowhere else, so that tests can put a stand-in in its
 * place which fills rings with packets made for it, loses records, and refuses: this machine may
 * have no Intel PT. Descriptors are always real ones (a stand-in hands out eventfds), so poll(2),
 * epoll(7) and close(2) are called directly.
 *
 * Used by everything in engine/perf_event/, engine/pt/ and engine/sample/.
 */
#ifndef MAGIC_TRACE_PERF_EVENT_KERNEL_H
#define MAGIC_TRACE_PERF_EVENT_KERNEL_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel {
    /* As the system calls of these names: -1 (mmap: MAP_FAILED) and errno when it does not work.
     * `pid`, `cpu`, `group`, `flags` as in perf_event_open(2); `argument` is a number or an
     * address, as the request wants it. */
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

/* The one that runs. */
extern const struct kernel kernel_real;

#endif
