/* How the counts of a run differ from those of a baseline.
 *
 * Called by `magic-trace check`.
 */
#ifndef MAGIC_TRACE_ANALYSIS_COUNT_CHANGES_H
#define MAGIC_TRACE_ANALYSIS_COUNT_CHANGES_H

#include "analysis/instruction_counts.h"

struct count_threshold {
    double per_cent;       /* of a function's instructions, or calls, in the baseline */
    uint64_t instructions; /* a smaller change of instructions does not count */
};

struct count_change {
    const char *thread, *function;      /* of the counts */
    uint64_t calls[2], instructions[2]; /* of the baseline and of the run; 0: it is not called */
    bool counts;                        /* it is above the threshold */
};

struct count_changes {
    struct array changes; /* of struct count_change: all that differ, the largest change of
                             instructions first */
    uint64_t calls[2], instructions[2]; /* of all functions */
    size_t more, less; /* how many above the threshold need more, or not, in the run */
};

struct count_changes count_changes_find(const struct instruction_counts *baseline,
                                        const struct instruction_counts *run,
                                        struct count_threshold threshold);
void count_changes_free(struct count_changes *changes);

#endif
