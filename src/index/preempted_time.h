/* Of a call, the time in which its thread was on no processor though it did not ask the kernel for
 * anything: it was preempted, or a page of its memory had to be read.
 *
 * Called by slow_calls.c. Reads the spans of the call.
 */
#ifndef MAGIC_TRACE_INDEX_PREEMPTED_TIME_H
#define MAGIC_TRACE_INDEX_PREEMPTED_TIME_H

#include "index/span_search.h"

/* *time: ns; 0 where the trace does not say when threads were not running. */
bool index_preempted_time(const struct trace_index *index, const struct call_place *call,
                          uint64_t *time, struct error *error);

#endif
