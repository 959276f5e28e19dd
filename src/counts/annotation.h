/* A function's instructions with how often each ran, which way its conditional jumps went, and
 * where its indirect jumps and calls did: `report -annotate`.
 */
#ifndef MAGIC_TRACE_COUNTS_ANNOTATION_H
#define MAGIC_TRACE_COUNTS_ANNOTATION_H

#include "base/error.h"
#include "counts/code_counts.h"
#include "output/report/json_report.h"

#include <stdio.h>

/* Prints every function of that name of which some code ran. `json`, if it is not NULL, gets the instructions in
 * the place of the stream. ERROR_NOT_FOUND: no such function ran. */
bool annotation_print(const struct code_counts *counts, const char *function,
                      struct json_report *json, FILE *stream, struct error *error);

#endif
