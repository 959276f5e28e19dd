/* magic-trace: finds the subcommand and hands over to it. */
#include "base/large_stack.h"
#include "base/shrunk_files.h"
#include "cli/command.h"
#include "cli/first_steps.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

struct command_line {
    int argc;
    char **argv;
};

static int run(void *context)
{
    const struct command_line *line = context;
    const struct command *command = command_find(command_name(line->argv[1]));
    return command ? command->run(command, line->argc - 1, line->argv + 1) : EXIT_STATUS_USAGE;
}

static void ignore(int number)
{
}

/* A file that reaches `ulimit -f` is an error of write(2), like a full disk. A handler: what is
 * ignored would be ignored by the traced program, too. */
static void outlive_file_limit(void)
{
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART}, before;
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 2 && isatty(STDOUT_FILENO)) {
        first_steps_print();
        return 0;
    }
    if (argc < 2) {
        fputs("magic-trace: no command was given. `magic-trace help` lists them; to trace a "
              "program: `magic-trace run PROGRAM`.\n",
              stderr);
        return EXIT_STATUS_USAGE;
    }
    outlive_file_limit();
    shrunk_files_handle();
    struct command_line line = {argc, argv};
    int status = large_stack_run(run, &line);
    /* A full disk of a redirected report shows only now. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
        fputs("magic-trace: cannot write to standard output.\n", stderr);
        return EXIT_STATUS_ERROR;
    }
    return status == 0 && shrunk_files_seen() ? EXIT_STATUS_ERROR : status;
}
