/* Arguments that several commands take in the same way.
 *
 * Called while the command line is read. Each gives 0, or the exit status after a message.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_COMMON_ARGUMENTS_H
#define MAGIC_TRACE_CLI_OPTIONS_COMMON_ARGUMENTS_H

#include "cli/command.h"
#include "cli/options/options.h"
#include "stack/spans/span_filter.h"

/* The one trace that a command shows: `operand` becomes *path unless there is one already. */
int take_trace(const struct command *command, const char **path, const char *operand);
/* When all was read: there has to be one. */
int need_trace(const struct command *command, const char *path);

/* -max-bytes: sets the size_t at option->field. */
option_apply take_byte_count;

/* -filter: sets the struct span_filter_names at option->field. */
option_apply take_filter;
#define FILTER_ARGUMENT "\"(A B)\""
#define FILTER_HELP                                                                                \
    "only what runs between a call of A and the next call\nof B, and so on; by name or symbol"
#define FILTER_MANUAL                                                                              \
    "Show only what ran between a call of A and the next call of B, in all threads, as often as "  \
    "that happens."

/* -no-inlined, which sets the bool at option->field. */
#define NO_INLINED_HELP "show calls alone, not what the compiler inlined"
#define NO_INLINED_MANUAL                                                                          \
    "Show calls alone. Otherwise functions that the compiler inlined are shown, too, where debug " \
    "information says which."

#endif
