/* The calls of a track in a range, from the first to the last in the order in which they begin,
 * callers before what they call.
 *
 *     struct call_walk walk = call_walk_begin(index, track, range, depth);
 *     for (const struct index_span *call; (call = call_walk_next(&walk, error));)
 *         ...
 *     ok = call_walk_end(&walk);
 *
 * Given are the calls that begin in the range, of `depth` or deeper. Times off a processor are no
 * calls. Memory is that of a part of the calls.
 *
 * Called by divergence.c.
 */
#ifndef MAGIC_TRACE_ANALYSIS_CALL_WALK_H
#define MAGIC_TRACE_ANALYSIS_CALL_WALK_H

#include "base/array.h"
#include "index/off_cpu_times.h"
#include "index/span_search.h"

struct call_walk {
    const struct trace_index *index;
    uint32_t track;
    uint32_t depth;
    struct off_cpu_groups off_cpu;
    struct index_range range; /* what is still to be read */
    uint64_t width;           /* ns, of what is read at once */
    struct array calls;       /* of struct walked_call: what was read last */
    struct array callers;     /* of struct open_caller: of what is being read */
    uint32_t at;              /* the call that was given last */
    bool failed;
};

struct call_walk call_walk_begin(const struct trace_index *index, uint32_t track,
                                 struct index_range range, uint32_t depth);

/* The next call, valid until the one after it is asked for; NULL at the end, or when it cannot be read. */
const struct index_span *call_walk_next(struct call_walk *walk, struct error *error);

/* Frees the walk; false when it has failed. */
bool call_walk_end(struct call_walk *walk);

#endif
