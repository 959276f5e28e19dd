/* The prompt of `magic-trace query`: statements typed at a terminal, until its end.
 *
 * A statement ends with a semicolon and may take several lines. Lines that begin with a dot are for
 * the prompt itself: .tables, .schema, .csv, .json, .table, .help, .quit. Rows go to standard
 * output, the prompt and messages to standard error.
 */
#ifndef MAGIC_TRACE_CLI_COMMANDS_QUERY_PROMPT_H
#define MAGIC_TRACE_CLI_COMMANDS_QUERY_PROMPT_H

#include "analysis/query/query_result.h"

#include <stdio.h>

/* Reads `in` to its end or to .quit. */
void query_prompt(struct read_only_database *database, enum query_form form, FILE *in);

#endif
