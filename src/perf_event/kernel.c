#include "perf_event/kernel.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(const struct kernel *kernel, const struct perf_event_attr *attributes,
                      pid_t pid, int cpu, int group, unsigned long flags)
{
    (void)kernel;
    return (int)syscall(SYS_perf_event_open, attributes, pid, cpu, group, flags);
}

static int control(const struct kernel *kernel, int event, unsigned long request,
                   unsigned long argument)
{
    (void)kernel;
    return ioctl(event, request, argument);
}

static void *map(const struct kernel *kernel, size_t size, int protection, int event,
                 uint64_t offset)
{
    (void)kernel;
    return mmap(NULL, size, protection, MAP_SHARED, event, (off_t)offset);
}

static int unmap(const struct kernel *kernel, void *address, size_t size)
{
    (void)kernel;
    return munmap(address, size);
}

const struct kernel kernel_real = {
    .open_event = open_event,
    .control = control,
    .map = map,
    .unmap = unmap,
    .sysfs = "/sys",
    .proc = "/proc",
};
