#include "cli/command.h"

#include <stdio.h>

static const struct option_spec version_options[] = {{0}};

static int run_version(const struct command *self, int argc, char **argv)
{
    int status = command_read_nothing(self, argc, argv);
    if (status != COMMAND_GOES_ON)
        return status;
    puts("magic-trace " MAGIC_TRACE_VERSION);
    return 0;
}

const struct command version_command = {
    .name = "version",
    .summary = "print the version",
    .operands = "",
    .description = "Prints the version of magic-trace.\n",
    .options = version_options,
    .run = run_version,
};
