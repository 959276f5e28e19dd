/* Makes a man page: copies one of docs/man/NAME.1.in to standard output and puts what the tables
 * hold in the places of three lines:
 *
 *     .\" OPTIONS of COMMAND    the options of the command, as items of a list
 *     .\" COMMANDS              the commands, likewise
 *     .\" TABLES                the tables that SQL can ask, with their columns
 *
 * Run by meson when magic-trace is built: man_page FILE.
 */
#include "analysis/query/trace_tables.h"
#include "cli/command.h"
#include "cli/manual/option_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_options(const char *name)
{
    const struct command *command = command_find(name);
    if (command)
        option_list_write(stdout, command);
    return command;
}

static void write_commands(void)
{
    for (const struct command *const *command = command_all(); *command; command++) {
        printf(".It Ic %s\n", (*command)->name);
        option_list_write_sentence(stdout, (*command)->summary);
        printf("See\n.Xr magic-trace-%s 1 .\n", (*command)->name);
    }
}

/* Text of the tables begins no line, where a period would be a request. */
static void write_columns(const struct trace_table *table)
{
    printf(".Bl -tag -width function_id -compact -offset indent\n");
    for (size_t i = 0; i < table->column_count; i++)
        printf(".It Ql %s\n\\&%s\n", table->columns[i].name, table->columns[i].meaning);
    printf(".El\n");
}

static void write_tables(void)
{
    for (size_t i = 0; trace_table_at(i); i++) {
        printf(".Ss %s\n\\&%s\n", trace_table_at(i)->name, trace_table_at(i)->summary);
        write_columns(trace_table_at(i));
    }
}

static bool write_line(char *line)
{
    static const char options[] = ".\\\" OPTIONS of ", commands[] = ".\\\" COMMANDS\n";
    static const char tables[] = ".\\\" TABLES\n";
    if (strcmp(line, commands) == 0) {
        write_commands();
    } else if (strcmp(line, tables) == 0) {
        write_tables();
    } else if (strncmp(line, options, strlen(options)) == 0) {
        line[strcspn(line, "\n")] = 0;
        return write_options(line + strlen(options));
    } else {
        fputs(line, stdout);
    }
    return true;
}

int main(int argc, char **argv)
{
    FILE *template = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!template) {
        perror(argc == 2 ? argv[1] : "usage: man_page FILE");
        return EXIT_FAILURE;
    }
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    while (ok && getline(&line, &size, template) >= 0)
        ok = write_line(line);
    free(line);
    fclose(template);
    return ok && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
