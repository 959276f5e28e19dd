/* Functions that have another name in the other trace.
 *
 * A function that only A has and one that only B has are taken for one when they have the same name
 * but for template arguments and parameters; or when they are called by the same functions as often,
 * and call the same functions. There must be no other pair that fits either.
 *
 * Called by comparison.c.
 */
#ifndef MAGIC_TRACE_ANALYSIS_RENAMED_FUNCTIONS_H
#define MAGIC_TRACE_ANALYSIS_RENAMED_FUNCTIONS_H

#include "analysis/function_ids.h"
#include "index/context_tree.h"

struct renamed_pair {
    uint32_t of_a, of_b; /* ids */
};

/* Appends struct renamed_pair. `tree` has the calls of both, by id. */
void find_renamed(const struct context_tree *tree, const struct function_ids *ids,
                  struct array *pairs);

#endif
