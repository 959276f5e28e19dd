/* The branches of one thread, in a form that every decoder can give: from and to of each taken
 * branch in the order of execution, 0 for where there is no trace. A count and a hash of them are
 * enough to compare decoders; printed one by one they show where two differ.
 *
 * A branch that ends tracing (a system call) goes to 0. Where tracing begins, a branch comes from
 * 0. An interruption goes from the instruction that was not executed to 0. A jump that was not
 * taken is no branch.
 *
 * Used by the judges insn_judge and branch_dlfilter, whose output must be the same. Printed one by
 * one, a line is `TID FROM TO`, as `magic-trace dump -branches` has it.
 */
#ifndef MAGIC_TRACE_TESTS_JUDGE_BRANCH_LOG_H
#define MAGIC_TRACE_TESTS_JUDGE_BRANCH_LOG_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct branch_log {
    uint32_t tid;
    bool print; /* each branch, on stdout */
    uint64_t count, hash;
};

static inline void branch_log_add(struct branch_log *log, uint64_t from, uint64_t to)
{
    /* Multiplication by an odd number and a rotation: any changed, missing or moved branch shows.
     */
    static const uint64_t factor = 0x9e3779b97f4a7c15;
    log->count++;
    log->hash = (log->hash ^ from) * factor;
    log->hash = (log->hash << 29 | log->hash >> 35) ^ to;
    log->hash *= factor;
    if (log->print)
        printf("%" PRIu32 " %#" PRIx64 " %#" PRIx64 "\n", log->tid, from, to);
}

static inline void branch_log_end(const struct branch_log *log)
{
    printf("tid %" PRIu32 ": %" PRIu64 " branches, hash %016" PRIx64 "\n", log->tid, log->count,
           log->hash);
}

#endif
