#include "cli/options/common_arguments.h"

int take_trace(const struct command *command, const char **path, const char *operand)
{
    if (*path)
        return command_usage_error(command, "one trace at a time, and there is `%s` too.", operand);
    *path = operand;
    return 0;
}

int need_trace(const struct command *command, const char *path)
{
    if (path)
        return 0;
    return command_usage_error(
        command, "no trace was given: a file like trace.fxt.gz, or a recording's folder.");
}

int take_filter(const struct command *command, struct span_filter_names *filter, const char *value)
{
    if (span_filter_names_parse(filter, value))
        return 0;
    return command_usage_error(
        command, "-filter is two functions in parentheses, \"(A B)\", not `%s`.", value);
}
