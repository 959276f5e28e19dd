/* The options about the processor's own trace and counters, which run and attach have.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_PROCESSOR_ARGUMENTS_H
#define MAGIC_TRACE_CLI_OPTIONS_PROCESSOR_ARGUMENTS_H

#include "cli/command.h"
#include "cli/options/options.h"
#include "engine/processor_options.h"

/* They fill a struct processor_options. */
extern const struct option_spec processor_option_specs[];

/* All have been read: whether they go together. 0, or the exit status after a message. */
int processor_arguments_check(const struct processor_options *options, const struct command *self);

#endif
