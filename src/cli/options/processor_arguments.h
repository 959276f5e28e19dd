/* The options about the processor's own trace and counters, as recording_request.c meets them.
 */
#ifndef MAGIC_TRACE_CLI_OPTIONS_PROCESSOR_ARGUMENTS_H
#define MAGIC_TRACE_CLI_OPTIONS_PROCESSOR_ARGUMENTS_H

#include "cli/command.h"
#include "engine/processor_options.h"

enum processor_argument {
    ARGUMENT_TIMER_RESOLUTION,
    ARGUMENT_INCLUDE_KERNEL,
    ARGUMENT_KERNEL_ONLY,
    ARGUMENT_SAMPLING,
    ARGUMENT_CALLGRAPH_MODE,
    ARGUMENT_EVENTS,
};

/* Applies one. 0, or the exit status after a message. */
int processor_argument_apply(struct processor_options *options, const struct command *self,
                             enum processor_argument argument, const char *value);

/* All have been read: whether they go together. 0, or the exit status after a message. */
int processor_arguments_check(const struct processor_options *options, const struct command *self);

#endif
