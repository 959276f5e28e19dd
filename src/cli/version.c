#include "cli/command.h"

#include <stdio.h>

static const struct option_spec version_options[] = {{0}};

static int run_version(const struct command *self, int argc, char **argv)
{
    struct option_reader reader;
    option_reader_open(&reader, version_options, argc, argv);
    int option = option_reader_next(&reader);
    int first = reader.next;
    option_reader_close(&reader);
    if (option == OPTION_ERROR)
        return EXIT_STATUS_USAGE;
    if (option == OPTION_HELP) {
        command_print_help(self);
        return 0;
    }
    if (first < argc)
        return command_usage_error(self, "version takes no operands, and there is `%s`.",
                                   argv[first]);
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
