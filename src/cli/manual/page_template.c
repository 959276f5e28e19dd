#include "cli/manual/page_template.h"

#include "analysis/query/trace_tables.h"
#include "cli/command.h"
#include "cli/manual/option_list.h"

#include <stdlib.h>
#include <string.h>

static bool write_options(FILE *page, const char *name)
{
    const struct command *command = command_find(name);
    if (command)
        option_list_write(page, command);
    return command;
}

static void write_commands(FILE *page)
{
    for (const struct command *const *command = command_all(); *command; command++) {
        fprintf(page, ".It Ic %s\n", (*command)->name);
        option_list_write_sentence(page, (*command)->summary);
        fprintf(page, "See\n.Xr magic-trace-%s 1 .\n", (*command)->name);
    }
}

/* Text of the tables begins no line, where a period would be a request. */
static void write_columns(FILE *page, const struct trace_table *table)
{
    fprintf(page, ".Bl -tag -width function_id -compact -offset indent\n");
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(page, ".It Ql %s\n\\&%s\n", table->columns[i].name, table->columns[i].meaning);
    fprintf(page, ".El\n");
}

static void write_tables(FILE *page)
{
    for (size_t i = 0; trace_table_at(i); i++) {
        fprintf(page, ".Ss %s\n\\&%s\n", trace_table_at(i)->name, trace_table_at(i)->summary);
        write_columns(page, trace_table_at(i));
    }
}

static bool write_line(FILE *page, char *line)
{
    static const char options[] = ".\\\" OPTIONS of ", commands[] = ".\\\" COMMANDS\n";
    static const char tables[] = ".\\\" TABLES\n";
    if (strcmp(line, commands) == 0) {
        write_commands(page);
    } else if (strcmp(line, tables) == 0) {
        write_tables(page);
    } else if (strncmp(line, options, strlen(options)) == 0) {
        line[strcspn(line, "\n")] = 0;
        return write_options(page, line + strlen(options));
    } else {
        fputs(line, page);
    }
    return true;
}

bool page_template_fill(FILE *page, FILE *page_template)
{
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    while (ok && getline(&line, &size, page_template) >= 0)
        ok = write_line(page, line);
    free(line);
    return ok;
}
