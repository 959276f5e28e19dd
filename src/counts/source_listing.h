/* Source text with how often each line ran, and how many instructions it took: `report -source`.
 */
#ifndef MAGIC_TRACE_COUNTS_SOURCE_LISTING_H
#define MAGIC_TRACE_COUNTS_SOURCE_LISTING_H

#include "base/error.h"
#include "counts/line_counts.h"
#include "output/report/json_report.h"

#include <stdio.h>

/* From where the sources were, to where they are. */
struct source_root {
    const char *from, *to; /* NULL: as debug information says */
};

/* Prints the source files that `wanted` names, by their path or the end of it, or the lines of the
 * function that it names. A file whose text is missing is shown without. ERROR_NOT_FOUND: no code
 * of it ran. `json`, if it is not NULL, gets its lines that have code, without their text, in the
 * place of the stream. */
bool source_listing_print(const struct code_counts *counts, const char *wanted,
                          const struct source_root *root, struct json_report *json, FILE *stream,
                          struct error *error);

#endif
