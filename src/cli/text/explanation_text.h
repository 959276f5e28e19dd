/* An explanation (analysis/explanation.h) for the terminal, and for programs.
 *
 * Called by `magic-trace explain`.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_EXPLANATION_TEXT_H
#define MAGIC_TRACE_CLI_TEXT_EXPLANATION_TEXT_H

#include "analysis/explanation.h"

#include <stdio.h>

/* `trace`: as the user gave it, for the commands that show a place. */
void explanation_print(FILE *stream, const struct explanation *explanation, const char *trace);

/* One JSON object; magic-trace-explain(1) describes its fields. */
void explanation_print_json(FILE *stream, const struct explanation *explanation, const char *trace);

#endif
