#include "cli/options/processor_arguments.h"

#include "cli/options/callgraph_mode.h"
#include "cli/options/event_list.h"
#include "cli/options/timer_resolution.h"

static int set_scope(struct processor_options *options, const struct command *self,
                     enum trace_scope scope)
{
    if (options->scope != TRACE_USER && options->scope != scope)
        return command_usage_error(self, "-trace-include-kernel and -trace-kernel-only exclude "
                                         "each other: give one.");
    options->scope = scope;
    return 0;
}

int processor_argument_apply(struct processor_options *options, const struct command *self,
                             enum processor_argument argument, const char *value)
{
    struct error error = {0};
    switch (argument) {
    case ARGUMENT_TIMER_RESOLUTION:
        return timer_resolution_parse(&options->timer, value, &error)
                   ? 0
                   : command_usage_error(self, "%s", error.text);
    case ARGUMENT_INCLUDE_KERNEL:
        return set_scope(options, self, TRACE_USER_AND_KERNEL);
    case ARGUMENT_KERNEL_ONLY:
        return set_scope(options, self, TRACE_KERNEL);
    case ARGUMENT_SAMPLING:
        options->sampling = true;
        return 0;
    case ARGUMENT_CALLGRAPH_MODE:
        if (callgraph_mode_parse(&options->callgraph, value))
            return 0;
        return command_usage_error(
            self, "-callgraph-mode is lbr, lbr-no-stitch, dwarf or fp, not `%s`.", value);
    case ARGUMENT_EVENTS:
        break;
    }
    return event_list_parse(options, value, &error) ? 0
                                                    : command_usage_error(self, "%s", error.text);
}

int processor_arguments_check(const struct processor_options *options, const struct command *self)
{
    if (options->callgraph != CALLGRAPH_DEFAULT && !options->sampling)
        return command_usage_error(self, "-callgraph-mode says how the stacks of samples are "
                                         "found: it needs -sampling.");
    if (options->timer.kind == TIMER_SAMPLE && !options->sampling)
        return command_usage_error(self, "-timer-resolution Sample is a number of samples per "
                                         "second: it needs -sampling.");
    if (options->timer.kind == TIMER_CUSTOM && options->sampling)
        return command_usage_error(self, "-timer-resolution Custom configures Intel PT, and "
                                         "-sampling does without it. Give (Sample((freq N))).");
    return 0;
}
