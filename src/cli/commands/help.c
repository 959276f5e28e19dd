#include "cli/command.h"
#include "cli/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_COLUMN = 30, /* where the explanation of an option begins */
    LINE_WIDTH = 84,    /* of the explanations of values */
};

static void print_indented(FILE *stream, const char *text, int column)
{
    for (const char *c = text; *c; c++) {
        fputc(*c, stream);
        if (*c == '\n')
            fprintf(stream, "%*s", column, "");
    }
    fputc('\n', stream);
}

/* "  name  text" in the column of explanations, on lines of at most LINE_WIDTH columns. */
static void print_wrapped(FILE *stream, const char *name, int name_width, const char *text)
{
    int indentation = OPTION_COLUMN + 2 + name_width + 2;
    int column = fprintf(stream, "%*s%-*s  ", OPTION_COLUMN + 2, "", name_width, name);
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (column > indentation && column + 1 + word > LINE_WIDTH) {
            fprintf(stream, "\n%*s", indentation, "");
            column = indentation;
        } else if (column > indentation) {
            column += fprintf(stream, " ");
        }
        column += fprintf(stream, "%.*s", word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}

/* The help of an option. A site whose command -share runs can supply its text, as in Jane Street's magic-trace. */
static const char *help_of(const struct option_spec *option)
{
    const char *own = strcmp(option->name, "share") == 0 ? getenv("MAGIC_TRACE_SHARE_DOC") : NULL;
    return own && *own ? own : option->help;
}

/* One line per value, below the option that takes it. */
static void print_values(FILE *stream, const struct option_spec *option)
{
    struct option_value value;
    int width = 0;
    for (size_t i = 0; option->values && option->values(i, &value); i++)
        if (value.summary && (int)strlen(value.name) > width)
            width = (int)strlen(value.name);
    for (size_t i = 0; option->values && option->values(i, &value); i++)
        if (value.summary)
            print_wrapped(stream, value.name, width, value.summary);
}

static void print_option(FILE *stream, const struct option_spec *option)
{
    if (!option->help)
        return;
    int width = fprintf(stream, "  -%s", option->name);
    if (option->letter)
        width += fprintf(stream, ", -%s", option->letter);
    if (option->argument)
        width += fprintf(stream, " %s", option->argument);
    if (width >= OPTION_COLUMN) {
        fputc('\n', stream);
        width = 0;
    }
    fprintf(stream, "%*s", OPTION_COLUMN - width, "");
    print_indented(stream, help_of(option), OPTION_COLUMN);
    print_values(stream, option);
}

void command_print_help(FILE *stream, const struct command *command)
{
    fprintf(stream, "Usage: magic-trace %s [OPTIONS]%s%s\n\n%s\n", command->name,
            *command->operands ? " " : "", command->operands, command->description);
    if (command->alias)
        fprintf(stream, "`%s` is another name for it.\n\n", command->alias);
    fputs("Options (one or two dashes, unique beginnings suffice):\n", stream);
    struct option_row *options = command_options(command);
    for (const struct option_row *row = options; row->spec; row++)
        print_option(stream, row->spec);
    free(options);
    print_option(stream,
                 &(struct option_spec){.name = "help", .letter = "?", .help = "print this page"});
}

static void print_overview(void)
{
    puts("magic-trace records every branch a program takes and shows its calls on a time line.\n\n"
         "Usage: magic-trace COMMAND ...\n\nCommands:");
    for (const struct command *const *command = command_all(); *command; command++)
        printf("  %-10s %s\n", (*command)->name, (*command)->summary);
    puts("\n`magic-trace help COMMAND` says more about one. To begin:\n\n"
         "  magic-trace run ./program\n"
         "  magic-trace view trace.fxt.gz");
}

static int run_help(const struct command *self, int argc, char **argv)
{
    int first;
    int status = command_read_leading_options(self, argc, argv, NULL, &first);
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
    command_print_help(stdout, command);
    return 0;
}

const struct command help_command = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .description = "Lists the commands, or explains one of them.\n",
    .run = run_help,
};
