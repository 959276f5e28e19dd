/* When the threads of a trace were not running: how much of a call was spent off a processor.
 *
 * Called by the server and the tables of SQL. Takes 24 bytes for each time off a processor. Times are
 * ns.
 */
#ifndef MAGIC_TRACE_INDEX_OFF_CPU_TIMES_H
#define MAGIC_TRACE_INDEX_OFF_CPU_TIMES_H

#include "index/trace_index.h"

struct off_cpu_times;

/* The index must outlive it. */
struct off_cpu_times *off_cpu_times_new(const struct trace_index *index);
/* `times` may be NULL. */
void off_cpu_times_free(struct off_cpu_times *times);

/* Whether the trace says when threads were not running; without, all times are 0. */
bool off_cpu_times_known(const struct off_cpu_times *times);

/* Reads the spans, the first time; many threads may call it at once. */
bool off_cpu_times_read(struct off_cpu_times *times, struct error *error);

/* How long the track's thread was not running in the range; after off_cpu_times_read(). */
uint64_t off_cpu_times_within(const struct off_cpu_times *times, uint32_t track,
                              struct index_range range);

/* The group of the times in which threads were not running; UINT32_MAX: none. */
uint32_t index_off_cpu_group(const struct trace_index *index);
/* That of system calls, likewise. */
uint32_t index_system_call_group(const struct trace_index *index);

#endif
