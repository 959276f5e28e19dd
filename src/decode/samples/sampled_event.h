/* Which event of a recording without packets supplies the call stacks, and how often it samples.
 * See sampled_flow.h.
 */
#ifndef MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_EVENT_H
#define MAGIC_TRACE_DECODE_SAMPLES_SAMPLED_EVENT_H

#include "recording/perf_data/perf_data_reader.h"

enum { SAMPLED_EVENT_NONE = UINT32_MAX };

/* Index of the event; SAMPLED_EVENT_NONE if not found. */
uint32_t sampled_event_find(const struct perf_data *data);

/* Whether `event` is the one found, or the same on another kind of cores. */
bool sampled_event_is(const struct perf_data *data, uint32_t found, uint32_t event);

/* Whether its samples have times: without option, perf record --per-thread leaves them out. */
bool sampled_event_has_times(const struct perf_data *data, uint32_t found);

/* The time between two samples of a running thread, in nanoseconds; 1 where the event has no
 * such period and its samples have no times. */
uint64_t sampled_event_period(const struct perf_data *data, uint32_t found);

#endif
