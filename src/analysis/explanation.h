/* Why calls of a function are slow: the slow ones compared with the usual ones.
 *
 * Called by `magic-trace explain`. Takes time for reading the function's calls twice and, of at
 * most SLOW_CALLS_MAX slow and USUAL_CALLS_MAX usual ones, what they call.
 */
#ifndef MAGIC_TRACE_ANALYSIS_EXPLANATION_H
#define MAGIC_TRACE_ANALYSIS_EXPLANATION_H

#include "analysis/attribution.h"
#include "index/slow_calls.h"

struct explanation {
    const struct trace_index *index; /* the caller's */
    struct slow_calls calls;
    uint64_t longest_ordinal; /* of the first of calls.slow */
    struct context_tree tree;
    double extra;        /* ns, of calls.slow together over as many usual calls */
    struct array causes; /* of struct explained_cause */
};

/* Where the carrier of a cause spends its time. */
enum explained_place {
    PLACE_PROGRAM,
    PLACE_SYSTEM_CALL,
    PLACE_WAITING,   /* in a system call, on no processor */
    PLACE_PREEMPTED, /* on no processor, though it did not ask the kernel for anything */
    PLACE_SUSPENDED, /* in its stack's suspension: other goroutines or fibers ran */
    PLACE_OUTSIDE,   /* somewhere else outside of the program */
};

struct explained_cause {
    struct cause cause;
    uint32_t group; /* the function that is named: of CAUSE_OUTSIDE, the one that left the
                           program; of CAUSE_REST none */
    enum explained_place where; /* the carrier is */
    uint32_t waiter;            /* group: the function that left the program there */
    int64_t extra;              /* ns; all add up to that of the explanation, rounded */
    int share;                  /* tenths of a per cent; all add up to 1000 */
    const char *work;           /* what it is known to be ("waiting for a lock"); NULL: not known */
    uint64_t ordinal;           /* of the longest call of `group` in a slow call; 0: no call */
    struct call_place place;    /* of that call */
    struct array path;          /* of uint32_t, groups: from the function to the carrier */
};

/* `explanation` is to be freed in any case. */
bool explain(const struct trace_index *index, const struct slow_calls_request *request,
             size_t causes_max, struct explanation *explanation, struct error *error);
void explanation_free(struct explanation *explanation);

#endif
