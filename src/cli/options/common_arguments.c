#include "cli/options/common_arguments.h"
#include "cli/options/options.h"

#include <errno.h>
#include <stdlib.h>

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

int take_filter(const struct option_spec *option, const struct command *command, void *target,
                const char *value)
{
    struct span_filter_names *filter = (void *)((char *)target + option->field);
    if (span_filter_names_parse(filter, value))
        return 0;
    return command_usage_error(command, "-%s is two functions in parentheses, \"(A B)\", not `%s`.",
                               option->name, value);
}

int take_byte_count(const struct option_spec *option, const struct command *command, void *target,
                    const char *value)
{
    char *end;
    errno = 0;
    unsigned long long count = strtoull(value, &end, 10);
    if (errno || end == value || *end || *value == '-' || count == 0)
        return command_usage_error(command, "-%s is a number of bytes, 1 or more, not `%s`.",
                                   option->name, value);
    *(size_t *)((char *)target + option->field) = (size_t)count;
    return 0;
}
