#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_COLUMN = 30 }; /* where the explanation of an option begins */

static void print_indented(const char *text, int column)
{
    for (const char *c = text; *c; c++) {
        putchar(*c);
        if (*c == '\n')
            printf("%*s", column, "");
    }
    putchar('\n');
}

/* What -share does, the command of a site, that site can say itself, as in the original. */
static const char *help_of(const struct option_spec *option)
{
    const char *own = strcmp(option->name, "share") == 0 ? getenv("MAGIC_TRACE_SHARE_DOC") : NULL;
    return own && *own ? own : option->help;
}

static void print_option(const struct option_spec *option)
{
    if (!option->help)
        return;
    int width = printf("  -%s", option->name);
    if (option->letter)
        width += printf(", -%s", option->letter);
    if (option->argument)
        width += printf(" %s", option->argument);
    if (width >= OPTION_COLUMN) {
        putchar('\n');
        width = 0;
    }
    printf("%*s", OPTION_COLUMN - width, "");
    print_indented(help_of(option), OPTION_COLUMN);
}

void command_print_help(const struct command *command)
{
    printf("Usage: magic-trace %s [OPTIONS]%s%s\n\n%s\n", command->name,
           *command->operands ? " " : "", command->operands, command->description);
    if (command->alias)
        printf("`%s` is another name for it.\n\n", command->alias);
    puts("Options (one or two dashes, unique beginnings suffice):");
    for (const struct option_spec *option = command->options; option->name; option++)
        print_option(option);
    for (const struct option_spec *option = command->common_options; option && option->name;
         option++)
        print_option(option);
    print_option(&(struct option_spec){.name = "help", .letter = "?", .help = "print this page"});
}

static void print_overview(void)
{
    puts("magic-trace records every branch a program takes and shows its calls on a time line.\n\n"
         "Usage: magic-trace COMMAND ...\n\nCommands:");
    for (const struct command *const *command = command_all(); *command; command++)
        printf("  %-9s %s\n", (*command)->name, (*command)->summary);
    puts("\n`magic-trace help COMMAND` says more about one. To begin:\n\n"
         "  magic-trace run ./program\n"
         "  magic-trace view trace.fxt.gz");
}

static const struct option_spec help_options[] = {{0}};

static int run_help(const struct command *self, int argc, char **argv)
{
    int first;
    int status = command_read_help_option(self, argc, argv, &first);
    if (status != COMMAND_GOES_ON)
        return status;
    if (argc - first > 1)
        return command_usage_error(self, "help explains one command at a time.");
    if (first == argc) {
        print_overview();
        return 0;
    }
    const struct command *command = command_find(argv[first]);
    if (!command)
        return EXIT_STATUS_USAGE;
    command_print_help(command);
    return 0;
}

const struct command help_command = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .description = "Lists the commands, or explains one of them.\n",
    .options = help_options,
    .run = run_help,
};
