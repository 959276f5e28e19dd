/* The command that shows a call, for the user to copy.
 *
 * Called by what prints explanations and comparisons.
 */
#ifndef MAGIC_TRACE_CLI_CALL_COMMAND_H
#define MAGIC_TRACE_CLI_CALL_COMMAND_H

#include "index/file/index_items.h"

/* `magic-trace report` of the function's call with this number; of functions with very long names,
 * of the call's time. `trace`: as the user gave it. The caller frees. */
char *call_command(const char *function, uint64_t ordinal, const struct index_span *span,
                   const char *trace);

#endif
