#include "perf_event/event_attributes.h"

#include <linux/hw_breakpoint.h>

struct perf_event_attr breakpoint_attributes(uint64_t address)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(struct perf_event_attr),
        .bp_type = HW_BREAKPOINT_X,
        .bp_addr = address,
        .bp_len = sizeof(long), /* the kernel requires this length */
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
}

struct perf_event_attr dummy_attributes(void)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
}
