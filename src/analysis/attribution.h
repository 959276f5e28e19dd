/* Where the extra time of slow calls went: parts of the difference between two calling context
 * trees, each with its cause.
 *
 * From the root on, the difference of a node is followed into what it calls, down to the node that
 * carries it. The parts do not overlap and add up to the whole difference. Where both sides are of
 * interest, parts that are too small to be named are added up by function: what is called more often
 * in a hundred places is one cause.
 *
 * Called by explanation.c and comparison.c.
 */
#ifndef MAGIC_TRACE_ANALYSIS_ATTRIBUTION_H
#define MAGIC_TRACE_ANALYSIS_ATTRIBUTION_H

#include "index/context_tree.h"

enum cause_kind {
    CAUSE_ONLY_SLOW,  /* only slow calls have the node */
    CAUSE_ONLY_USUAL, /* only usual calls have it: time that slow calls save */
    CAUSE_CALLS,      /* it is called more often, or less */
    CAUSE_SELF,       /* it is called as often; its own code takes longer */
    CAUSE_OUTSIDE,    /* the time is outside of the program: in a system call and the like */
    CAUSE_MORE,   /* it does more: a loop in it runs longer, or slow calls do several things more */
    CAUSE_SPREAD, /* spread over it and what it calls; nothing stands out */
    CAUSE_REST,   /* all that is too small to be named */
};

/* Of all nodes of a cause together. */
struct cause_sums {
    uint64_t calls, time; /* ns; in itself alone for CAUSE_SELF, with callees otherwise */
    uint64_t present;     /* calls that are looked at with it, in the node that counts most */
};

struct cause {
    enum cause_kind kind;
    uint32_t node;    /* of several with the same function, the one that counts most */
    uint32_t nodes;   /* how many there are */
    uint32_t carrier; /* the deepest node below `node`, or itself, that has most of the extra time
                         of `node` */
    double extra;     /* ns; of all slow calls together */
    struct cause_sums sides[CONTEXT_SIDES];
};

struct attribution_request {
    const struct context_tree *tree; /* finished */
    /* By group: time in it is outside of the program, like [syscall]. */
    const bool *is_outside;
    /* By group: it is the program's own code, whose parts are named one by one. */
    const bool *is_own;
    /* The group, outside of the program, of times in which other threads had the processor: one cause
     * in whatever function they are. UINT32_MAX: none. */
    uint32_t preempted;
    size_t causes_max; /* more become CAUSE_REST; 1 or more */
    /* Both sides are of interest, and their differences may cancel out: what is worth naming is
     * measured by the sum of all sizes. */
    bool is_symmetric;
};

/* Appends struct cause: first those with the sign of the whole difference, then those against it, each the largest
 * first, CAUSE_REST last if there is one. Of more than `causes_max` the smallest are left out, but never the first.
 * Returns the extra time in ns, of all slow calls together. */
double attribute(const struct attribution_request *request, struct array *causes);

#endif
