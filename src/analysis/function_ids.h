/* Numbers for the functions of two traces: the same for those that have the same name, so that
 * their calls can be compared. A copy that the compiler made has the number of what it is a copy of
 * (compiler_copies.h), for which copies there are differs from build to build.
 *
 * Called by comparison.c. The two may be the same trace.
 */
#ifndef MAGIC_TRACE_ANALYSIS_FUNCTION_IDS_H
#define MAGIC_TRACE_ANALYSIS_FUNCTION_IDS_H

#include "index/trace_index.h"

#define NO_FUNCTION UINT32_MAX

struct function_ids {
    const struct trace_index *indexes[2]; /* the caller's */
    uint32_t *by_group[2];                /* the number of each group; owned */
    uint32_t *groups[2];                  /* by number: its group, of copies the first;
                                             NO_FUNCTION: the trace has none; owned */
    uint32_t count;
};

struct function_ids function_ids_new(const struct trace_index *a, const struct trace_index *b);
void function_ids_free(struct function_ids *ids);

/* From here on the two numbers, of functions that only A and only B have, are one: that of A. */
void function_ids_join(struct function_ids *ids, uint32_t of_a, uint32_t of_b);

/* As the trace that has it says; of both, B. */
struct index_function function_ids_function(const struct function_ids *ids, uint32_t id);

#endif
