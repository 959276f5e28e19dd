/* The part of a trace that the user names by times and calls, found in its index.
 *
 * Called by the reports. The notation is that of output/report/trace_window.h, which finds the same while
 * a trace is read.
 */
#ifndef MAGIC_TRACE_ANALYSIS_TRACE_MOMENTS_H
#define MAGIC_TRACE_ANALYSIS_TRACE_MOMENTS_H

#include "index/span_search.h"
#include "output/report/trace_window.h"

struct trace_moments {
    uint64_t first, last; /* ns, both included; UINT64_MAX: to the end */
    /* The calls that were named: in their tracks the part begins with the one, and ends with the
     * other. */
    bool begins_with_call, ends_with_call;
    struct call_place first_call, last_call;
    struct index_tracks tracks; /* the threads that are shown; borrowed, set by the caller */
};

/* The range of the moments. */
static inline struct index_range moments_range(const struct trace_moments *moments)
{
    return (struct index_range){moments->first, moments->last + (moments->last < UINT64_MAX)};
}

/* The range whose time is added up: a time of the part counts up to its end. */
struct index_range moments_time(const struct trace_index *index,
                                const struct trace_moments *moments);

/* ERROR_USAGE for moments that make no sense or come in the wrong order, ERROR_NOT_FOUND for what
 * never happens. */
bool trace_moments_find(const struct trace_index *index, const struct report_tree_options *options,
                        struct trace_moments *moments, struct error *error);

#endif
