/* Where two calls, or two threads, part: the first call that only one of them makes. Times
 * off a processor are no calls.
 *
 * Called by comparison.c. Calls are gone through in the order in which they begin; memory is that of
 * a part of them.
 */
#ifndef MAGIC_TRACE_ANALYSIS_DIVERGENCE_H
#define MAGIC_TRACE_ANALYSIS_DIVERGENCE_H

#include "analysis/function_ids.h"
#include "analysis/trace_part.h"
#include "index/context_tree.h"

struct divergence_side {
    uint32_t track;         /* that was gone through */
    bool has_call;          /* false: there is no further call */
    struct call_place call; /* the first that differs */
    struct array stack;     /* of uint32_t, ids: its callers, the outermost first;
                               NO_FUNCTION: it began before the range */
};

struct divergence {
    bool is_found;         /* false: both make the same calls */
    uint64_t common_calls; /* before it */
    struct divergence_side sides[CONTEXT_SIDES];
};

/* Goes through both parts; of ranges, the track with the most spans in each. Free the divergence in
 * any case. */
bool find_divergence(const struct trace_part parts[CONTEXT_SIDES], const struct function_ids *ids,
                     struct divergence *divergence, struct error *error);
void divergence_free(struct divergence *divergence);

#endif
