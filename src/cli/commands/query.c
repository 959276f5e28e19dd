/* magic-trace query: SQL over a trace. */
#include "analysis/query/query_result.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/commands/query_prompt.h"
#include "cli/options/common_arguments.h"
#include "cli/options/options.h"
#include "cli/serve/viewed_trace.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct query_request {
    const char *path;
    const char *sql; /* NULL: it is read from standard input */
    bool csv, json;
    size_t max_bytes; /* of the JSON of a statement; 0: any size */
};

static enum query_form form_of(const struct query_request *request)
{
    return request->csv ? QUERY_CSV : request->json ? QUERY_JSON : QUERY_TABLE;
}

/* A mistake in any statement is found before the first one runs. */
static bool check_statements(struct read_only_database *database, const char *sql,
                             struct error *error)
{
    sqlite3_stmt *statement;
    size_t statements = 0;
    while ((statement = read_only_database_prepare(database, &sql, error))) {
        sqlite3_finalize(statement);
        statements++;
    }
    if (error->code == ERROR_NONE && statements == 0)
        error_set(error, ERROR_USAGE,
                  "there is no SQL: give a SELECT statement after the trace, "
                  "or on standard input");
    return error->code == ERROR_NONE;
}

static void say_if_cut(const struct query_written *written)
{
    if (written->cut)
        log_status("The rows after the first %" PRIu64 " are left out: -max-bytes.", written->rows);
}

static bool run_statements(const struct query_request *request, struct read_only_database *database,
                           const char *sql, struct error *error)
{
    if (!check_statements(database, sql, error))
        return false;
    sqlite3_stmt *statement;
    bool ok = true;
    while (ok && (statement = read_only_database_prepare(database, &sql, error))) {
        struct query_written written;
        ok = query_result_write(database, statement, form_of(request), request->max_bytes, stdout,
                                &written, error);
        say_if_cut(&written);
        sqlite3_finalize(statement);
    }
    return error->code == ERROR_NONE;
}

static bool ask(const struct query_request *request, struct read_only_database *database,
                struct error *error)
{
    if (request->sql)
        return run_statements(request, database, request->sql, error);
    if (isatty(STDIN_FILENO)) {
        query_prompt(database, form_of(request), stdin);
        return true;
    }
    char *sql = file_read_descriptor(STDIN_FILENO, "standard input", NULL, error);
    bool ok = sql && run_statements(request, database, sql, error);
    free(sql);
    return ok;
}

/* Of a damaged trace what can be read is answered, and the damage said. */
static int query(const struct query_request *request)
{
    struct error error = {0};
    struct viewed_trace trace;
    if (!viewed_trace_open(&trace, request->path, &error))
        return command_fail(&error);
    struct read_only_database *database = read_only_database_open(trace.index, &error);
    bool ok = database && ask(request, database, &error);
    const char *damage = trace_index_facts(trace.index)->damage;
    if (ok && damage)
        ok = error_set(&error, ERROR_FORMAT, "%s", damage);
    if (database)
        read_only_database_close(database);
    viewed_trace_close(&trace);
    return ok ? 0 : command_fail(&error);
}

/* ---- options ---- */

static const struct option_spec query_options[] = {
    {.name = "csv",
     .help = "print rows as CSV, with the columns' names first",
     .apply = option_set_flag,
     .field = offsetof(struct query_request, csv)},
    {.name = "json",
     .help = "print rows as a JSON array of objects",
     .apply = option_set_flag,
     .field = offsetof(struct query_request, json)},
    {.name = "max-bytes",
     .argument = "N",
     .help = "JSON: leave out rows beyond N bytes",
     .manual = "With -json, print the first rows of each statement, up to about N bytes but one at "
               "least, and say on standard error when there are more.",
     .apply = take_byte_count,
     .field = offsetof(struct query_request, max_bytes)},
    {0},
};

static const struct option_group query_groups[] = {{query_options, 0}, {0}};

static int take_operand(const struct command *self, void *target, const char *operand)
{
    struct query_request *request = target;
    if (!request->path)
        return take_trace(self, &request->path, operand);
    if (request->sql)
        return command_usage_error(self, "the SQL is one operand, in quotes; there is also `%s`.",
                                   operand);
    request->sql = operand;
    return 0;
}

static int check_request(const struct command *self, const struct query_request *request)
{
    int status = need_trace(self, request->path);
    if (status)
        return status;
    if (request->csv && request->json)
        return command_usage_error(self, "-csv and -json are two forms: give one.");
    if (request->max_bytes && !request->json)
        return command_usage_error(self, "-max-bytes belongs to -json.");
    if (!request->sql && strcmp(request->path, "-") == 0)
        return command_usage_error(self, "both the recording and the SQL would come from standard "
                                         "input: give the SQL as an operand.");
    return 0;
}

static int run_query(const struct command *self, int argc, char **argv)
{
    struct query_request request = {0};
    int status = command_read_options(self, argc, argv, &request, take_operand);
    if (status == COMMAND_GOES_ON && (status = check_request(self, &request)) == 0)
        status = query(&request);
    return status;
}

const struct command query_command = {
    .name = "query",
    .summary = "ask a trace in SQL",
    .operands = "TRACE|DIR|PERF.DATA|TEXT ['SQL']",
    .description =
        "Answers SQL about a trace: SQLite reads its index as tables, such as calls,\n"
        "functions, threads and stacks. TRACE is a file in the Fuchsia trace format\n"
        "(trace.fxt.gz); DIR, PERF.DATA and TEXT are recordings as `magic-trace decode`\n"
        "takes them, which are decoded first.\n"
        "\n"
        "Without SQL a terminal gets a prompt, and all else that comes from standard input\n"
        "is the SQL. The trace can only be read. An index is made the first time, and kept\n"
        "beside the trace. magic-trace-query(1) lists the tables, with examples:\n"
        "\n"
        "  magic-trace query trace.fxt.gz \\\n"
        "    'SELECT function, calls, p99 FROM functions ORDER BY total DESC LIMIT 10'\n",
    .options = query_groups,
    .run = run_query,
};
