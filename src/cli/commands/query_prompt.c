#include "cli/commands/query_prompt.h"

#include "analysis/query/trace_tables.h"
#include "base/memory.h"
#include "cli/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct prompt {
    struct read_only_database *database;
    enum query_form form;
    char *typed; /* lines of a statement that is not complete; owned; NULL: none */
    bool quits;
};

static const char HELP[] =
    "Type a SELECT statement and end it with ; and Enter. Times are nanoseconds since the\n"
    "beginning of the trace.\n"
    "  .tables                 the tables\n"
    "  .schema TABLE           the columns of a table, and what they mean\n"
    "  .table, .csv, .json     how rows are printed\n"
    "  .quit                   or Ctrl-D: end\n";

/* ---- lines that begin with a dot ---- */

static void print_tables(void)
{
    for (size_t i = 0; trace_table_at(i); i++)
        fprintf(stderr, "%-10s %s\n", trace_table_at(i)->name, trace_table_at(i)->summary);
}

static void print_columns(const struct trace_table *table)
{
    fprintf(stderr, "%s: %s\n", table->name, table->summary);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(stderr, "  %-12s %-8.7s %s\n", table->columns[i].name, table->columns[i].type,
                table->columns[i].meaning);
}

/* All tables when `name` is empty. */
static void print_schema(const char *name)
{
    bool found = false;
    for (size_t i = 0; trace_table_at(i); i++)
        if (!*name || strcmp(trace_table_at(i)->name, name) == 0) {
            print_columns(trace_table_at(i));
            found = true;
        }
    if (!found)
        fprintf(stderr, "There is no table `%s`; .tables lists them.\n", name);
}

static void obey(struct prompt *prompt, char *line)
{
    char *rest = NULL;
    const char *word = strtok_r(line, " \t\n;", &rest);
    const char *operand = strtok_r(NULL, " \t\n;", &rest);
    if (strcmp(word, ".tables") == 0)
        print_tables();
    else if (strcmp(word, ".schema") == 0)
        print_schema(operand ? operand : "");
    else if (strcmp(word, ".csv") == 0)
        prompt->form = QUERY_CSV;
    else if (strcmp(word, ".json") == 0)
        prompt->form = QUERY_JSON;
    else if (strcmp(word, ".table") == 0)
        prompt->form = QUERY_TABLE;
    else if (strcmp(word, ".quit") == 0 || strcmp(word, ".exit") == 0)
        prompt->quits = true;
    else
        fputs(HELP, stderr);
}

/* ---- statements ---- */

static void answer(struct prompt *prompt)
{
    struct error error = {0};
    const char *sql = prompt->typed;
    sqlite3_stmt *statement;
    while ((statement = read_only_database_prepare(prompt->database, &sql, &error))) {
        struct query_written written;
        bool ok = query_result_write(prompt->database, statement, prompt->form, 0, stdout, &written,
                                     &error);
        sqlite3_finalize(statement);
        if (!ok)
            break;
        fprintf(stderr, "(%" PRIu64 " %s)\n", written.rows, written.rows == 1 ? "row" : "rows");
    }
    if (error.code != ERROR_NONE)
        command_fail(&error);
}

static void take_line(struct prompt *prompt, char *line)
{
    if (!prompt->typed && *line == '.') {
        obey(prompt, line);
        return;
    }
    char *typed = memory_format("%s%s", prompt->typed ? prompt->typed : "", line);
    free(prompt->typed);
    prompt->typed = typed;
    bool is_blank = typed[strspn(typed, " \t\r\n")] == 0;
    if (!is_blank && !sqlite3_complete(typed))
        return;
    answer(prompt);
    free(prompt->typed);
    prompt->typed = NULL;
}

void query_prompt(struct read_only_database *database, enum query_form form, FILE *in)
{
    struct prompt prompt = {.database = database, .form = form};
    char *line = NULL;
    size_t size = 0;
    fputs("SQL over this trace; .help says more, .quit ends.\n", stderr);
    while (!prompt.quits) {
        fputs(prompt.typed ? "...> " : "sql> ", stderr);
        if (getline(&line, &size, in) < 0)
            break;
        take_line(&prompt, line);
    }
    if (!prompt.quits)
        fputc('\n', stderr);
    free(prompt.typed);
    free(line);
}
