/* A part of a trace: a call with all that it calls, or all that happens in a range of time.
 *
 * What comparison.h compares, and divergence.h.
 */
#ifndef MAGIC_TRACE_ANALYSIS_TRACE_PART_H
#define MAGIC_TRACE_ANALYSIS_TRACE_PART_H

#include "index/span_search.h"

struct trace_part {
    const struct trace_index *index; /* the caller's */
    bool is_call;
    struct call_place call;   /* if is_call */
    struct index_range range; /* else */
};

#endif
