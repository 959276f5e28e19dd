/* The first branch at which the parts of two recordings part: `compare -branch`.
 *
 * Called by compare; decodes the recordings again.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_BRANCH_COMPARISON_H
#define MAGIC_TRACE_CLI_TEXT_BRANCH_COMPARISON_H

#include "analysis/comparison.h"
#include "counts/branch_divergence.h"
#include "server/http/json_text.h"

struct branch_comparison {
    struct flow *flows[CONTEXT_SIDES]; /* owned; the same twice where it is one recording */
    struct branch_divergence divergences[BRANCH_CHOICES];
};

/* `traces` are what the user gave: recordings of every branch. Close it in any case. */
bool branch_comparison_open(struct branch_comparison *branches, const struct comparison *comparison,
                            const char *const traces[CONTEXT_SIDES], struct error *error);
void branch_comparison_close(struct branch_comparison *branches);

void branch_comparison_print(FILE *stream, const struct branch_comparison *branches);
/* The members "branch" and "library_branch". */
void branch_comparison_write(struct json_text *json, const struct branch_comparison *branches);

#endif
