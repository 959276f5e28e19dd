/* /api/sql: the answer to a query in SQL (analysis/query/). */
#include "analysis/query/read_only_database.h"
#include "server/answers/query.h"

#include <stdlib.h>

/* Bounds: rows of an answer, processor time, bytes of the values of an answer together. */
enum { ROWS_MAX = 10000, ROWS_STANDARD = 1000, BYTES_MAX = 16 << 20 };
static const uint64_t TIME_MAX = 5000000000; /* ns */

static void write_value(struct json_text *json, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        json_text_signed(json, sqlite3_column_int64(statement, column));
        break;
    case SQLITE_FLOAT:
        json_text_real(json, sqlite3_column_double(statement, column));
        break;
    case SQLITE_NULL:
        json_text_null(json);
        break;
    default:
        json_text_string(json, (const char *)sqlite3_column_text(statement, column));
        break;
    }
}

static void write_columns(struct json_text *json, sqlite3_stmt *statement)
{
    json_text_key(json, "columns");
    json_text_open(json, '[');
    for (int i = 0; i < sqlite3_column_count(statement); i++)
        json_text_string(json, sqlite3_column_name(statement, i));
    json_text_close(json, ']');
}

static size_t write_row(struct json_text *json, sqlite3_stmt *statement)
{
    size_t bytes = 0;
    json_text_open(json, '[');
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        write_value(json, statement, i);
        bytes += 1 + (size_t)sqlite3_column_bytes(statement, i);
    }
    json_text_close(json, ']');
    return bytes;
}

/* Of more than `limit` rows the first. */
static bool write_rows(struct json_text *json, struct read_only_database *database,
                       sqlite3_stmt *statement, uint64_t limit, struct error *error)
{
    uint64_t rows = 0;
    size_t bytes = 0;
    int status;
    json_text_open(json, '{');
    write_columns(json, statement);
    json_text_key(json, "rows");
    json_text_open(json, '[');
    while ((status = read_only_database_step(database, statement, error)) == SQLITE_ROW &&
           rows < limit && bytes < BYTES_MAX) {
        bytes += write_row(json, statement);
        rows++;
    }
    json_text_close(json, ']');
    json_text_key(json, "more");
    json_text_bool(json, status == SQLITE_ROW);
    json_text_close(json, '}');
    return status == SQLITE_ROW || status == SQLITE_DONE;
}

static bool answer_statement(const struct query *query, struct read_only_database *database,
                             sqlite3_stmt *statement, struct http_answer *answer,
                             struct error *error)
{
    uint64_t limit;
    struct json_text json;
    if (!parameter_number(query->parameters, "limit", ROWS_STANDARD, 1, ROWS_MAX, &limit, error) ||
        !query_json_open(answer, &json, error))
        return false;
    bool ok = write_rows(&json, database, statement, limit, error);
    return query_json_close(&json, ok ? error : NULL) && ok;
}

/* One statement; a second one is an error rather than forgotten. */
static bool prepare(struct read_only_database *database, const char *sql, sqlite3_stmt **statement,
                    struct error *error)
{
    *statement = read_only_database_prepare(database, &sql, error);
    if (!*statement)
        return error->code != ERROR_NONE ? false
                                         : error_set(error, ERROR_USAGE, "there is no SQL.");
    sqlite3_stmt *second = read_only_database_prepare(database, &sql, error);
    if (!second && error->code == ERROR_NONE)
        return true;
    if (second)
        error_set(error, ERROR_USAGE, "there is more than one statement: ask them one by one.");
    sqlite3_finalize(second);
    sqlite3_finalize(*statement);
    return false;
}

/* Mistakes in a query are usual and no failure of the server: browsers complain of each. */
static bool answer_mistake(struct http_answer *answer, struct error *error)
{
    struct json_text json;
    if (error->code != ERROR_USAGE && error->code != ERROR_UNSUPPORTED)
        return false;
    free(answer->bytes);
    answer->bytes = NULL;
    if (!query_json_open(answer, &json, error))
        return false;
    json_text_open(&json, '{');
    json_text_member_string(&json, "error", error->text);
    json_text_close(&json, '}');
    return query_json_close(&json, error);
}

bool answer_sql(const struct query *query, struct http_answer *answer, struct error *error)
{
    const char *sql = parameters_find(query->parameters, "sql");
    if (!sql)
        return error_set(error, ERROR_USAGE, "the parameter `sql` is missing.");
    struct read_only_database *database = read_only_database_open(query->index, error);
    if (!database)
        return false;
    read_only_database_limit_time(database, TIME_MAX);
    sqlite3_stmt *statement;
    bool ok = prepare(database, sql, &statement, error);
    if (ok) {
        ok = answer_statement(query, database, statement, answer, error);
        sqlite3_finalize(statement);
    }
    read_only_database_close(database);
    return ok || answer_mistake(answer, error);
}
