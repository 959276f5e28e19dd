/* Prints how often a hardware breakpoint on a function fires that is called five times: 5, or 0 where a
 * hypervisor passes no debug registers on. */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) static void target(void)
{
    __asm__ volatile("");
}

int main(void)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attributes,
        .bp_type = HW_BREAKPOINT_X,
        .bp_len = sizeof(long),
        .bp_addr = (uintptr_t)target,
        .exclude_kernel = 1,
    };
    int descriptor = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    uint64_t count = 0;
    for (int i = 0; i < 5; i++)
        target();
    if (descriptor < 0 || read(descriptor, &count, sizeof count) != sizeof count)
        return 1;
    printf("%llu\n", (unsigned long long)count);
    return 0;
}
