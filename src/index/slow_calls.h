/* The calls of a function, split into slow and usual ones.
 *
 * Called by analysis/explanation.c. Two readings of the function's calls; memory is bounded,
 * however many there are.
 */
#ifndef MAGIC_TRACE_INDEX_SLOW_CALLS_H
#define MAGIC_TRACE_INDEX_SLOW_CALLS_H

#include "index/off_cpu_times.h"
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
    bool counts_preempted;          /* always, not only where it is the reason; see below */
};

/* Calls are compared with those of the same level of recursion: the outermost at which the function
 * is called ten times or more, or that of the given call. Only calls whose beginning and end were
 * seen count.
 *
 * How long a call takes is measured without the time in which it was preempted: that comes from what else
 * the machine did. It counts only where nothing else makes calls slow: when no call is slow without it, or when it
 * has nine tenths of the extra time of the given call. */
struct slow_calls {
    uint32_t level;  /* 0: no other call of the function is active */
    uint64_t calls;  /* of that level */
    uint64_t median; /* ns; of a sample, where there are more than SAMPLED_CALLS */
    uint64_t limit;  /* slow calls are longer */
    bool is_longest; /* no call is longer than the limit: `slow` holds the longest alone */
    uint64_t slow_calls, slow_time;  /* all of them, ns */
    struct off_cpu_times *preempted; /* what does not count; NULL: all time counts */
    uint64_t preempted_calls,
        preempted_time; /* calls that only this time makes longer than the limit; of them, ns */
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

/* ns of the call that do not count. */
uint64_t slow_calls_left_out(const struct slow_calls *calls, const struct call_place *call);

#endif
