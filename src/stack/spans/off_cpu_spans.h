/* Draws "[not running]" or "[preempted]" in what a thread does while it is on no processor, like a system call: from
 * the recording's context switches.
 *
 * A thread is preempted when it could have run on: another one has its processor, also while the kernel works for it in a system
 * call. Otherwise it waits. The kernel says so of each switch since Linux 4.17 (perf_event_open(2),
 * PERF_RECORD_MISC_SWITCH_OUT_PREEMPT); of older recordings all times are "[not running]".
 *
 * It is the innermost span of its thread. Where something of the thread falls within, which
 * an estimated time can cause, it is interrupted there. The time between two switches of which a
 * record is missing counts as running. Called by timeline_spans.c.
 */
#ifndef MAGIC_TRACE_STACK_SPANS_OFF_CPU_SPANS_H
#define MAGIC_TRACE_STACK_SPANS_OFF_CPU_SPANS_H

#include "decode/flow.h"
#include "stack/spans/span.h"
#include "stack/spans/span_functions.h"

#include <string.h>

/* Both are compared with by their names in traces, also by web/data/off_cpu.js. */
#define OFF_CPU_NAME "[not running]"
#define PREEMPTED_NAME "[preempted]"

/* Whether a span of this function is such a time. */
static inline bool span_is_off_cpu(const struct span_function *function)
{
    return function->special && (strcmp(function->name, OFF_CPU_NAME) == 0 ||
                                 strcmp(function->name, PREEMPTED_NAME) == 0);
}

/* Wraps `source`, whose time 0 is `origin` of the records' clock; close() closes both. `records` are by time, and
 * needed only during the call; `functions` must outlive the source. Returns `source` itself if there are no switches of its threads. */
struct span_source *off_cpu_spans(struct span_source *source, const struct sideband_record *records,
                                  size_t record_count, struct nanoseconds origin,
                                  struct span_functions *functions);

#endif
