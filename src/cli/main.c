/* magic-trace: finds the subcommand and hands over to it. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

static bool is_flag(const char *argument, const char *name)
{
    if (*argument != '-')
        return false;
    argument += argument[1] == '-' ? 2 : 1;
    return strcmp(argument, name) == 0;
}

/* `magic-trace -help` and `-version` are what people try first; they are the commands of that name.
 */
static const char *command_name(const char *argument)
{
    if (is_flag(argument, "help") || is_flag(argument, "h") || strcmp(argument, "-?") == 0)
        return "help";
    if (is_flag(argument, "version") || is_flag(argument, "V"))
        return "version";
    return argument;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("magic-trace: no command was given. `magic-trace help` lists them; to trace a "
              "program: `magic-trace run PROGRAM`.\n",
              stderr);
        return EXIT_STATUS_USAGE;
    }
    const struct command *command = command_find(command_name(argv[1]));
    if (!command)
        return EXIT_STATUS_USAGE;
    int status = command->run(command, argc - 1, argv + 1);
    /* A full disk of a redirected report shows only now. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
        fputs("magic-trace: cannot write to standard output.\n", stderr);
        return EXIT_STATUS_ERROR;
    }
    return status;
}
