/* A comparison (analysis/comparison.h) for the terminal, and for programs.
 *
 * Called by `magic-trace compare`.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_COMPARISON_TEXT_H
#define MAGIC_TRACE_CLI_TEXT_COMPARISON_TEXT_H

#include "analysis/comparison.h"
#include "cli/text/branch_comparison.h"

#include <stdio.h>

struct comparison_text {
    const struct comparison *comparison;
    const struct branch_comparison *branches; /* NULL: not asked for */
    const char *labels[CONTEXT_SIDES];        /* what A and B are, for the user */
    const char *traces[CONTEXT_SIDES];        /* as the user gave them, for commands */
    size_t rows;                              /* of the table of functions, or of paths */
    size_t max_bytes;                         /* of JSON; 0: any size */
    bool by_path;
};

bool comparison_print(FILE *stream, const struct comparison_text *text, struct error *error);

/* One JSON object; magic-trace-compare(1) describes its fields. Only lists of rows are cut to fit: what is
 * larger than max_bytes has too many causes. */
bool comparison_print_json(FILE *stream, const struct comparison_text *text, struct error *error);

#endif
