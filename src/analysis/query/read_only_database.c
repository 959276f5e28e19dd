#include "analysis/query/read_only_database.h"

#include "analysis/query/aggregate_pushdown.h"
#include "analysis/query/quantile_functions.h"
#include "analysis/query/trace_tables.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The longest value, in bytes: no query of a trace needs more, and printf('%*d') could ask for it. */
enum { VALUE_MAX = 16 << 20, STATEMENT_MAX = 1 << 20 };

/* SQLite's memory for all connections of the process, in bytes. The index is mapped and no part of
 * it. */
enum { HEAP_MAX = 128 << 20 };

/* Steps of SQLite's machine between two looks at the clock. */
enum { STEPS_PER_LOOK = 10000 };

struct read_only_database {
    sqlite3 *connection;
    struct table_trace *trace; /* owned */
    const char *refused;       /* what the statement wants to do and may not; NULL: nothing */
    uint64_t time_limit;       /* ns; 0: none */
    uint64_t begin;            /* of the statement, in ns of processor time */
    bool took_too_long;
};

/* ---- what is allowed ---- */

/* What people try, in words. */
static const char *name_of_action(int action)
{
    switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return "open other files";
    case SQLITE_PRAGMA:
        return "use PRAGMA";
    case SQLITE_FUNCTION:
        return "load code";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
        return "use transactions";
    default:
        return "change anything";
    }
}

static bool is_harmless_pragma(const char *name)
{
    static const char *const HARMLESS[] = {"table_info",  "table_xinfo",   "table_list",
                                           "module_list", "function_list", "compile_options"};
    for (size_t i = 0; i < sizeof HARMLESS / sizeof *HARMLESS; i++)
        if (sqlite3_stricmp(name, HARMLESS[i]) == 0)
            return true;
    return false;
}

static bool is_allowed(int action, const char *first, const char *second)
{
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return true;
    case SQLITE_FUNCTION:
        return sqlite3_stricmp(second, "load_extension") != 0 &&
               sqlite3_stricmp(second, "fts3_tokenizer") != 0;
    case SQLITE_PRAGMA:
        return is_harmless_pragma(first);
    default:
        return false;
    }
}

static int authorize(void *client, int action, const char *first, const char *second,
                     const char *schema, const char *trigger)
{
    (void)schema;
    (void)trigger;
    struct read_only_database *database = client;
    if (is_allowed(action, first, second))
        return SQLITE_OK;
    database->refused = name_of_action(action);
    return SQLITE_DENY;
}

/* ---- time ---- */

static uint64_t thread_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int look_at_clock(void *client)
{
    struct read_only_database *database = client;
    database->took_too_long =
        database->time_limit > 0 && thread_time() - database->begin > database->time_limit;
    return database->took_too_long;
}

void read_only_database_limit_time(struct read_only_database *database, uint64_t nanoseconds)
{
    database->time_limit = nanoseconds;
    sqlite3_progress_handler(database->connection, nanoseconds ? STEPS_PER_LOOK : 0, look_at_clock,
                             database);
}

/* ---- opening ---- */

static int restrict_connection(struct read_only_database *database)
{
    sqlite3 *connection = database->connection;
    sqlite3_hard_heap_limit64(HEAP_MAX);
    sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, VALUE_MAX);
    sqlite3_limit(connection, SQLITE_LIMIT_SQL_LENGTH, STATEMENT_MAX);
    int status = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    if (status == SQLITE_OK)
        status = sqlite3_exec(connection, "PRAGMA query_only = ON", NULL, NULL, NULL);
    return status == SQLITE_OK ? sqlite3_set_authorizer(connection, authorize, database) : status;
}

/* SQLite connects a table when a statement first names it, and asks then whether it may write its
 * schema: so this comes before the restrictions. */
static int connect_tables(sqlite3 *connection)
{
    int status = SQLITE_OK;
    for (size_t i = 0; status == SQLITE_OK && trace_table_at(i); i++) {
        char *sql = sqlite3_mprintf("SELECT 1 FROM %s LIMIT 0", trace_table_at(i)->name);
        status = sql ? sqlite3_exec(connection, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    return status;
}

static bool set_up(struct read_only_database *database, struct error *error)
{
    int status = sqlite3_open_v2(":memory:", &database->connection,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                                     SQLITE_OPEN_NOMUTEX,
                                 NULL);
    if (status == SQLITE_OK)
        status = quantile_functions_register(database->connection);
    if (status == SQLITE_OK &&
        !trace_tables_register(database->connection, database->trace, "", error))
        return false;
    if (status == SQLITE_OK)
        status = connect_tables(database->connection);
    if (status == SQLITE_OK)
        status = restrict_connection(database);
    return status == SQLITE_OK ||
           error_set(error, ERROR_IO, "cannot start SQLite: %s", sqlite3_errstr(status));
}

struct read_only_database *read_only_database_open(const struct trace_index *index,
                                                   struct error *error)
{
    struct read_only_database *database = memory_allocate_zeroed(sizeof *database);
    database->trace = table_trace_new(index);
    if (set_up(database, error))
        return database;
    read_only_database_close(database);
    return NULL;
}

void read_only_database_close(struct read_only_database *database)
{
    sqlite3_close(database->connection);
    table_trace_free(database->trace);
    free(database);
}

/* ---- messages ---- */

static bool refuse(const struct read_only_database *database, struct error *error)
{
    return error_set(error, ERROR_USAGE,
                     "a query of a trace may only read it, and this statement would %s. Write "
                     "SELECT; to have the tables in a file of your own: magic-trace export -format "
                     "sqlite",
                     database->refused ? database->refused : "change anything");
}

/* "calls, functions, ..." into `names`. */
static void list_tables(sqlite3_str *names)
{
    for (size_t i = 0; trace_table_at(i); i++)
        sqlite3_str_appendf(names, "%s%s", i ? ", " : "", trace_table_at(i)->name);
}

/* The columns of all tables that the statement names. */
static void list_columns(const char *sql, sqlite3_str *names)
{
    for (size_t i = 0; trace_table_at(i); i++) {
        const struct trace_table *table = trace_table_at(i);
        if (!strstr(sql, table->name))
            continue;
        sqlite3_str_appendf(names, ". %s has", table->name);
        for (size_t j = 0; j < table->column_count; j++)
            sqlite3_str_appendf(names, "%s %s", j ? "," : "", table->columns[j].name);
    }
}

static bool explain_sql(struct read_only_database *database, const char *sql, struct error *error)
{
    const char *message = sqlite3_errmsg(database->connection);
    sqlite3_str *hint = sqlite3_str_new(NULL);
    int offset = sqlite3_error_offset(database->connection);
    if (strncmp(message, "no such table", strlen("no such table")) == 0) {
        sqlite3_str_appendall(hint, ". The tables are ");
        list_tables(hint);
    } else if (strncmp(message, "no such column", strlen("no such column")) == 0) {
        list_columns(sql, hint);
    } else if (offset >= 0 && sql[offset]) {
        sqlite3_str_appendf(hint, ", at: %.40s", sql + offset);
    }
    char *text = sqlite3_str_finish(hint);
    error_set(error, ERROR_USAGE, "SQLite does not understand the query: %s%s", message,
              text ? text : "");
    sqlite3_free(text);
    return false;
}

/* ---- statements ---- */

static bool have_same_columns(sqlite3_stmt *left, sqlite3_stmt *right)
{
    int columns = sqlite3_column_count(left);
    if (sqlite3_column_count(right) != columns)
        return false;
    while (columns-- > 0)
        if (strcmp(sqlite3_column_name(left, columns), sqlite3_column_name(right, columns)) != 0)
            return false;
    return true;
}

/* The statement, whose text is given, or another one that gives the same rows sooner. */
static sqlite3_stmt *accelerate(struct read_only_database *database, sqlite3_stmt *statement,
                                const char *sql, size_t length)
{
    sqlite3_stmt *other = NULL;
    char *rewritten = aggregate_pushdown(sql, length);
    if (rewritten &&
        sqlite3_prepare_v2(database->connection, rewritten, -1, &other, NULL) == SQLITE_OK &&
        have_same_columns(statement, other)) {
        sqlite3_stmt *replaced = statement;
        statement = other;
        other = replaced;
    }
    sqlite3_finalize(other);
    sqlite3_free(rewritten);
    return statement;
}

sqlite3_stmt *read_only_database_prepare(struct read_only_database *database, const char **sql,
                                         struct error *error)
{
    sqlite3_stmt *statement = NULL;
    const char *begin;
    do {
        const char *rest;
        begin = *sql;
        database->refused = NULL;
        int status = sqlite3_prepare_v2(database->connection, *sql, -1, &statement, &rest);
        if (status == SQLITE_AUTH || database->refused) {
            refuse(database, error);
            sqlite3_finalize(statement);
            return NULL;
        }
        if (status != SQLITE_OK) {
            explain_sql(database, *sql, error);
            return NULL;
        }
        *sql = rest;
    } while (!statement && **sql);
    /* What gives no rows does something else; VACUUM is not announced to authorize(). */
    if (statement && (sqlite3_column_count(statement) == 0 || !sqlite3_stmt_readonly(statement))) {
        refuse(database, error);
        sqlite3_finalize(statement);
        return NULL;
    }
    return statement ? accelerate(database, statement, begin, (size_t)(*sql - begin)) : NULL;
}

int read_only_database_step(struct read_only_database *database, sqlite3_stmt *statement,
                            struct error *error)
{
    if (!sqlite3_stmt_busy(statement))
        database->begin = thread_time();
    database->took_too_long = false;
    int status = sqlite3_step(statement);
    if (status == SQLITE_ROW || status == SQLITE_DONE)
        return status;
    const char *message = sqlite3_errmsg(database->connection);
    if (database->took_too_long)
        error_set(error, ERROR_UNSUPPORTED,
                  "the query took more than %g s of processor time and was ended. Narrow it by "
                  "start, thread or function",
                  (double)database->time_limit / 1e9);
    else if (status == SQLITE_NOMEM)
        error_set(error, ERROR_UNSUPPORTED,
                  "the query needs more memory than queries get. Narrow it, or let it sum up less");
    else if (database->refused) /* newer versions of SQLite notice some refusals only here */
        refuse(database, error);
    else if (status == SQLITE_CORRUPT_VTAB)
        error_set(error, ERROR_FORMAT, "%s", message);
    else
        error_set(error, ERROR_USAGE, "the query failed: %s", message);
    return status;
}
