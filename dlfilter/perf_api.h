/* The interface between perf and a filter that it loads, as far as our filter uses it.
 *
 * Declared here because perf's own header, perf_dlfilter.h, comes with perf, and magic-trace is
 * also built on machines without it. Source: perf-dlfilter(1), "The filter API", since Linux 5.14;
 * the structures only ever grow at their ends. tests/unit/dlfilter/perf_api_test.c compares this
 * with perf's header where there is one.
 */
#ifndef MAGIC_TRACE_DLFILTER_PERF_API_H
#define MAGIC_TRACE_DLFILTER_PERF_API_H

#include <stdint.h>

/* struct perf_dlfilter_sample, up to the last field that is used here. */
struct perf_api_sample {
    uint32_t size;
    uint16_t ins_lat;
    uint16_t p_stage_cyc;
    uint64_t ip;
    int32_t pid, tid; /* -1 unknown */
    uint64_t time;    /* nanoseconds */
    uint64_t addr;
    uint64_t id, stream_id, period, weight, transaction, insn_cnt, cyc_cnt;
    int32_t cpu;    /* -1 unknown */
    uint32_t flags; /* PERF_DLFILTER_FLAG_*; enum branch_flag of branch_stream.h */
    uint64_t data_src, phys_addr, data_page_size, code_page_size, cgroup;
    uint8_t cpumode;
    uint8_t addr_correlates_sym;
    uint16_t misc;
    uint32_t raw_size;
    const void *raw_data;
    uint64_t brstack_nr;
    const void *brstack;
    uint64_t raw_callchain_nr;
    const uint64_t *raw_callchain;
    const char *event; /* its name: "branches:u" */
};

/* struct perf_dlfilter_fns: what perf fills in for the filter. */
struct perf_api_functions {
    void *not_used[7];
    /* Copies code of the sample's process; returns the number of bytes, or a negative one. */
    int32_t (*object_code)(void *context, uint64_t address, void *buffer, uint32_t size);
    void *(*reserved[120])(void *);
};

/* What a filter exports; perf calls it. Samples are dropped by 1; a negative number ends perf. */
__attribute__((visibility("default"))) extern struct perf_api_functions perf_dlfilter_fns;
__attribute__((visibility("default"))) int start(void **data, void *context);
__attribute__((visibility("default"))) int stop(void *data, void *context);
/* Before perf looks for the sample's thread and symbols, which takes it longer than decoding. */
__attribute__((visibility("default"))) int
filter_event_early(void *data, const struct perf_api_sample *sample, void *context);
__attribute__((visibility("default"))) const char *
filter_description(const char **long_description);

#endif
