/* The first branch at which two calls, or two threads, part: found by decoding their recordings
 * branch by branch.
 *
 * Branches are compared by function and offset in it, so the two sides may lie at different
 * addresses, and be of different builds: where the code of a function has changed, that is where
 * they part. The way through the C library and the dynamic linker depends on the addresses of what
 * they work on, and on the environment, so those may be left out. Each recording is decoded twice (flow_steps), first for a hash of each BLOCK branches,
 * then for the branches of the first block that differs; memory is that of one block.
 *
 * Called by `compare -branch`.
 */
#ifndef MAGIC_TRACE_COUNTS_BRANCH_DIVERGENCE_H
#define MAGIC_TRACE_COUNTS_BRANCH_DIVERGENCE_H

#include "base/error.h"
#include "decode/flow.h"

enum { BRANCH_SIDES = 2 };

/* What one side does. */
struct branch_part {
    struct flow *flow;   /* has packets */
    uint32_t pid, tid;   /* of a thread */
    const char *call_of; /* NULL: all that it does */
    const char *symbol;  /* another name of the function; NULL: none */
    uint64_t call;       /* which call of the function that the thread enters, from 1 */
};

/* A place in the code. Strings live as long as the flow. */
struct branch_place {
    const char *function; /* never NULL */
    uint64_t offset;      /* in it */
    struct source_line line;
};

struct parting_branch {
    bool is_there; /* false: this side makes no further branch */
    uint8_t kind;  /* enum flow_step_kind: STEP_TAKEN to STEP_RETURN */
    struct branch_place from, to;
};

/* By kind, functions and offsets in these. */
bool branch_is_same(const struct parting_branch *a, const struct parting_branch *b);

struct branch_divergence {
    bool is_found;   /* false: both make the same branches */
    uint64_t common; /* before it */
    struct parting_branch sides[BRANCH_SIDES];
};

enum branch_choice {
    BRANCHES_OF_PROGRAM, /* all but those in the C library and the dynamic linker */
    BRANCHES_OF_ALL_CODE,
    BRANCH_CHOICES,
};

/* ERROR_NOT_FOUND: one side's call was not met. */
bool find_branch_divergences(const struct branch_part parts[BRANCH_SIDES],
                             struct branch_divergence divergences[BRANCH_CHOICES],
                             struct error *error);

#endif
