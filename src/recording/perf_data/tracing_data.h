/* The format of sched:sched_switch, from the tracepoint formats that a perf.data file contains.
 *
 * Used by the reader, private to recording/perf_data. The tracing data (feature 1, or a record of
 * pipe mode) holds the text of /sys/kernel/tracing/events/SYSTEM/NAME/format of every tracepoint
 * that was recorded.
 */
#ifndef MAGIC_TRACE_RECORDING_PERF_DATA_TRACING_DATA_H
#define MAGIC_TRACE_RECORDING_PERF_DATA_TRACING_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Where in the raw data of a sample the fields lie. */
struct switch_format {
    uint32_t next_tid; /* of "next_pid", 4 bytes, which in the kernel's words is a thread */
};

/* As it is in all kernels since 2.6.35. */
struct switch_format switch_format_usual(void);

/* Updates `format` from the tracing data, if that has the format. */
void switch_format_find(struct switch_format *format, const uint8_t *tracing_data, size_t size);

#endif
