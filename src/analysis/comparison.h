/* What differs between two parts of traces: calls and time per function and per call path.
 *
 * Called by `magic-trace compare`. A part is a call, a range of time, or all of a trace; both may be
 * of the same trace. Differences of self time add up exactly to that of the whole. Functions of
 * different builds are matched by name; those that are only in A and only in B are taken for one
 * that was renamed, where their place in the call tree and their calls agree.
 */
#ifndef MAGIC_TRACE_ANALYSIS_COMPARISON_H
#define MAGIC_TRACE_ANALYSIS_COMPARISON_H

#include "analysis/attribution.h"
#include "analysis/divergence.h"
#include "analysis/function_ids.h"
#include "analysis/trace_part.h"

/* Times are ns. */
struct function_difference {
    uint32_t id;
    uint64_t calls[CONTEXT_SIDES];
    uint64_t self[CONTEXT_SIDES];
    uint64_t total[CONTEXT_SIDES];   /* with callees, of outermost calls */
    uint64_t outside[CONTEXT_SIDES]; /* of total: outside of the program */
};

struct renamed_function {
    uint32_t id;
    const char *names[CONTEXT_SIDES]; /* the indexes' */
};

struct moved_function {
    uint32_t id;
    const char *files[CONTEXT_SIDES]; /* the indexes' */
};

struct comparison {
    struct trace_part parts[CONTEXT_SIDES];
    struct function_ids ids;
    struct context_tree tree;        /* its groups are ids; of parts that are no calls the root is
                                  ids.count, which stands for what calls the threads */
    uint64_t wall[CONTEXT_SIDES];    /* ns, all threads together */
    uint64_t outside[CONTEXT_SIDES]; /* ns of it: outside of the program */
    uint32_t preempted;              /* id of the times in which other threads had the processor;
                                        NO_FUNCTION: none */
    struct array causes;             /* of struct cause, whole nanoseconds, in the order of
                                        attribution.h */
    struct array functions; /* of struct function_difference, the largest difference of self time
                               first; all that were called */
    struct array renamed;   /* of struct renamed_function */
    struct array moved;     /* of struct moved_function: to another source file */
    struct divergence divergence;
};

/* Names at most `causes_max` causes. `comparison` is to be freed in any case. */
bool compare_parts(const struct trace_part parts[CONTEXT_SIDES], size_t causes_max,
                   struct comparison *comparison, struct error *error);
/* Names so many of the same comparison; all others are in the rest, so that they still add up. */
void comparison_name_causes(struct comparison *comparison, size_t causes_max);
void comparison_free(struct comparison *comparison);

#endif
