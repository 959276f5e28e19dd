/* When the threads of a trace were not running: how much of a call was spent off a processor.
 *
 * Called by the server, the tables of SQL, and slow_calls.c. Takes 24 bytes for each time off a processor. Times are
 * ns.
 */
#ifndef MAGIC_TRACE_INDEX_OFF_CPU_TIMES_H
#define MAGIC_TRACE_INDEX_OFF_CPU_TIMES_H

#include "index/trace_index.h"

struct off_cpu_times;

enum off_cpu_kind {
    OFF_CPU_ALL,
    /* The kernel has recorded that the thread could have run on; or that is not known, and the thread had not asked the
     * kernel for anything: another one had its processor, or a page of its memory had to be read. */
    OFF_CPU_PREEMPTED,
};

/* Groups of the times in which threads were not running; UINT32_MAX: the trace has none of that kind. */
struct off_cpu_groups {
    uint32_t not_running; /* they waited, or it is not known why */
    uint32_t preempted;   /* they could have run on */
};

struct off_cpu_groups index_off_cpu_groups(const struct trace_index *index);

static inline bool off_cpu_groups_has(struct off_cpu_groups groups, uint32_t group)
{
    return group != UINT32_MAX && (group == groups.not_running || group == groups.preempted);
}

/* The index must outlive it. */
struct off_cpu_times *off_cpu_times_new(const struct trace_index *index, enum off_cpu_kind kind);
/* `times` may be NULL. */
void off_cpu_times_free(struct off_cpu_times *times);

/* Whether the trace says when threads were not running; without, all times are 0, without
 * reading. */
bool off_cpu_times_known(const struct off_cpu_times *times);

/* Reads the spans, the first time; many threads may call it at once. */
bool off_cpu_times_read(struct off_cpu_times *times, struct error *error);

/* How long the track's thread was not running in the range; after off_cpu_times_read(). */
uint64_t off_cpu_times_within(const struct off_cpu_times *times, uint32_t track,
                              struct index_range range);

/* Whether the span is a time in which its thread was not running. */
bool off_cpu_times_has(const struct off_cpu_times *times, const struct index_span *span);

/* The group of system calls; UINT32_MAX: none. */
uint32_t index_system_call_group(const struct trace_index *index);

#endif
