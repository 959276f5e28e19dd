/* The calls of a function, split into slow and usual ones.
 *
 * Called by analysis/explanation.c. Two readings of the function's calls; memory is bounded,
 * however many there are.
 */
#ifndef MAGIC_TRACE_INDEX_SLOW_CALLS_H
#define MAGIC_TRACE_INDEX_SLOW_CALLS_H

#include "index/span_search.h"
#include "index/split_calls.h"

enum {
    SLOW_CALLS_MAX = 1000,   /* kept */
    USUAL_CALLS_MAX = 1000,  /* kept */
    SAMPLED_CALLS = 1 << 20, /* more calls than this are sampled for the median */
};

struct slow_calls_request {
    uint32_t group;
    double factor;                  /* slow calls take longer than this many medians; or */
    uint64_t limit;                 /* longer than this, ns; 0: the factor counts */
    const struct call_place *given; /* this one alone is slow; or NULL */
};

/* Calls are compared with those of the same level of recursion: the outermost at which the function
 * is called ten times or more, or that of the given call. Only calls whose beginning and end were
 * seen count. */
struct slow_calls {
    uint32_t level;  /* 0: no other call of the function is active */
    uint64_t calls;  /* of that level */
    uint64_t median; /* ns; of a sample, where there are more than SAMPLED_CALLS */
    uint64_t limit;  /* slow calls are longer */
    bool is_longest; /* no call is longer than the limit: `slow` holds the longest alone */
    uint64_t slow_calls, slow_time; /* all of them, ns */
    uint64_t passed_over; /* slow calls that only preemption makes longer than those in `slow` */
    struct split_calls
        split;          /* those of several spans; in `slow` and `usual` a place has the start of
                                 the first and the end of the last */
    struct array slow;  /* of struct call_place, the longest first: those that stand out, or all, or
                          SLOW_CALLS_MAX */
    struct array usual; /* of struct call_place, evenly picked among the others */
};

/* ERROR_NOT_FOUND: there are fewer than two calls to compare. slow_calls_free() in any case. */
bool slow_calls_find(const struct trace_index *index, const struct slow_calls_request *request,
                     struct slow_calls *calls, struct error *error);
void slow_calls_free(struct slow_calls *calls);

#endif
