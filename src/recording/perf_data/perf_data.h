/* What a perf.data file with Intel PT in it says, common to its writer and its reader.
 *
 * Format: tools/perf/Documentation/perf.data-file-format.txt of Linux; Intel PT's private words:
 * tools/perf/util/intel-pt.h (INTEL_PT_PMU_TYPE ...). What perf 6.1 insists on: shared facts,
 * software-pt.md §3.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_PERF_DATA_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* How packets were made and how their times are converted. */
struct pt_setup {
    struct clock_conversion clock;
    bool has_clock;  /* cap_user_time_zero; false: ticks cannot be converted to nanoseconds */
    uint64_t config; /* attr.config of the intel_pt event */
    /* Masks into config, 0 when this machine's PMU lacks the bit. */
    uint64_t tsc_bit, no_return_compression_bit, mtc_bit, mtc_period_bits, cyc_bit;
    uint32_t tsc_ctc_numerator, tsc_ctc_denominator; /* CPUID 0x15 EBX, EAX; 0 when unknown */
    uint32_t max_nonturbo_ratio;                     /* bus ratio of the TSC: TSC MHz / 100 */
    bool per_cpu;                                    /* AUX rings belong to CPUs, not to threads */
    bool own_switches; /* only the traced threads record their switches; not read */
    bool snapshot;     /* rings were overwritten, only the end was kept */
    bool kernel;       /* the kernel was traced too */
    /* Address filters (perf record --filter) as perf writes them down, with addresses in files
     * instead of names; NULL: none. Borrowed from the file; not written. */
    const char *filters;
};

/* The processor that made the packets; errata are chosen by it. All 0: unknown or not Intel's. */
struct cpu_identity {
    uint16_t family;
    uint8_t model, stepping;
    bool intel;
};

/* Contiguous PT packets of one ring. */
struct aux_chunk {
    uint32_t tid;    /* UINT32_MAX when the ring belongs to a CPU */
    uint32_t cpu;    /* UINT32_MAX when the ring belongs to a thread */
    uint32_t index;  /* of the ring in its recording; chunks of one ring follow each other in file
                        order */
    uint64_t offset; /* of the first byte, counted since the ring was made */
    struct ticks reference; /* a time near the end of the chunk, never 0 */
    const uint8_t *bytes;   /* borrowed */
    uint64_t size;
    uint64_t file_offset; /* where the bytes lie in perf.data, for error messages; 0 when writing */
};

#endif
