#include "cli/command.h"

#include <stdio.h>

static int run_version(const struct command *self, int argc, char **argv)
{
    int status = command_read_options_alone(self, argc, argv, NULL);
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
    .run = run_version,
};
