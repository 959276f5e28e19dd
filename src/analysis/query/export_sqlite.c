/* The database's tables are those that SQL sees of an index, which is made of the exported spans for
 * this. Of calls and stacks, the parts that repeat are kept once: `calls` and `stacks` are views of
 * call_records, stack_records, places and threads.
 */
#include "analysis/query/export_sqlite.h"

#include "analysis/query/descriptor_vfs.h"
#include "analysis/query/trace_tables.h"
#include "base/log.h"
#include "base/memory.h"
#include "index/build/index_builder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The tables of the index, as the connection that writes calls them. */
#define READ "read_"

/* Of calls that returned and were seen whole, which nearly all are, the reason and what was seen are
 * NULL and take no room. ?1 is what is added to times. */
static const char SCHEMA[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA cache_size = -32768; BEGIN;"
    "CREATE TABLE call_records(id INTEGER PRIMARY KEY, parent INTEGER, place INTEGER,"
    " thread_id INTEGER, depth INTEGER, start INTEGER, duration INTEGER, self INTEGER,"
    " on_cpu INTEGER, whole INTEGER, end_reason TEXT, seen TEXT);"
    "CREATE TABLE stack_records(id INTEGER PRIMARY KEY, parent INTEGER, function TEXT,"
    " function_id INTEGER, depth INTEGER, calls INTEGER, total INTEGER, self INTEGER);";

static const char CALLS[] =
    "INSERT INTO call_records SELECT id, parent, place, thread_id, depth, start + ?1, duration,"
    " self, on_cpu, whole, nullif(end_reason, 'return'), nullif(seen, 'yes') FROM " READ "calls";

static const char STACKS[] =
    "INSERT INTO stack_records SELECT id, parent, function, function_id, depth, calls, total, self"
    " FROM " READ "stacks";

static const char VIEWS[] =
    "CREATE VIEW calls AS SELECT c.id, c.parent, p.function, p.function_id, t.thread, c.thread_id,"
    " t.process, t.pid, t.tid, c.depth, c.start, c.start + c.duration AS \"end\", c.duration,"
    " c.self, c.on_cpu, c.whole, coalesce(c.end_reason, 'return') AS end_reason,"
    " coalesce(c.seen, 'yes') AS seen, p.symbol, p.file, p.line, p.address, p.code,"
    " (SELECT group_concat(name || '=' || text, ', ') FROM (SELECT name, text FROM args"
    "  WHERE call = c.id AND position IS NOT NULL ORDER BY position)) AS arguments,"
    " (SELECT text FROM args WHERE call = c.id AND position IS NULL) AS result"
    " FROM call_records c JOIN places p ON p.id = c.place JOIN threads t ON t.id = c.thread_id;"
    "CREATE VIEW stacks AS WITH RECURSIVE paths(id, path) AS ("
    " SELECT id, function FROM stack_records WHERE parent IS NULL UNION ALL"
    " SELECT s.id, paths.path || ';' || s.function FROM paths JOIN stack_records s"
    " ON s.parent = paths.id) SELECT s.*, paths.path FROM stack_records s JOIN paths USING (id);"
    "CREATE VIEW gaps AS SELECT * FROM marks WHERE kind <> 'note';"
    "CREATE INDEX calls_by_place ON call_records(place);"
    "CREATE INDEX calls_by_start ON call_records(start);"
    "CREATE INDEX calls_by_parent ON call_records(parent);"
    "CREATE INDEX args_by_call ON args(call);"
    "CREATE INDEX stacks_by_parent ON stack_records(parent);"
    "COMMIT";

/* Tables that are copied as they are. */
static const struct trace_table *const copied[] = {
    &functions_table, &places_table, &threads_table,  &args_table,
    &hits_table,      &marks_table,  &counters_table, &trace_table,
};

struct database {
    sqlite3 *connection;
    struct descriptor_vfs vfs;
    const char *path; /* for messages */
    uint64_t origin;  /* ns: what is added to the index's times */
    uint64_t calls;   /* for the line of progress */
    uint64_t steps;
};

/* ---- SQL ---- */

static bool fail(const struct database *database, struct error *error)
{
    if (database->vfs.error)
        return error_set_errno(error, ERROR_IO, database->vfs.error, "cannot write %s",
                               database->path);
    return error_set(error, ERROR_IO, "cannot write the tables to %s: %s", database->path,
                     sqlite3_errmsg(database->connection));
}

static bool execute(const struct database *database, const char *sql, struct error *error)
{
    return sqlite3_exec(database->connection, sql, NULL, NULL, NULL) == SQLITE_OK ||
           fail(database, error);
}

/* A statement whose parameter is the origin. */
static bool insert(const struct database *database, const char *sql, struct error *error)
{
    sqlite3_stmt *statement;
    int status = sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL);
    if (status == SQLITE_OK && sqlite3_bind_parameter_count(statement) > 0)
        status = sqlite3_bind_int64(statement, 1, (sqlite3_int64)database->origin);
    if (status == SQLITE_OK)
        status = sqlite3_step(statement);
    bool ok = status == SQLITE_DONE || fail(database, error);
    sqlite3_finalize(statement);
    return ok;
}

static bool is_time(const struct table_column *column)
{
    return strcmp(column->name, "start") == 0 || strcmp(column->name, "end") == 0 ||
           strcmp(column->name, "time") == 0;
}

static bool copy_table(const struct database *database, const struct trace_table *table,
                       struct error *error)
{
    sqlite3_str *create = sqlite3_str_new(NULL), *select = sqlite3_str_new(NULL);
    sqlite3_str_appendf(create, "CREATE TABLE %s(", table->name);
    sqlite3_str_appendf(select, "INSERT INTO %s SELECT ", table->name);
    size_t columns = table->column_count - (size_t)table->parameters;
    for (size_t i = 0; i < columns; i++) {
        const struct table_column *column = &table->columns[i];
        bool is_key = i == 0 && strcmp(column->name, "id") == 0;
        sqlite3_str_appendf(create, "%s\"%s\" %s%s", i ? ", " : "", column->name, column->type,
                            is_key ? " PRIMARY KEY" : "");
        sqlite3_str_appendf(select, "%s\"%s\"%s", i ? ", " : "", column->name,
                            is_time(column) ? " + ?1" : "");
    }
    sqlite3_str_appendf(create, ")");
    sqlite3_str_appendf(select, " FROM " READ "%s", table->name);
    char *creation = sqlite3_str_finish(create), *copying = sqlite3_str_finish(select);
    bool ok = execute(database, creation, error) && insert(database, copying, error);
    sqlite3_free(creation);
    sqlite3_free(copying);
    return ok;
}

static bool write_tables(const struct database *database, struct error *error)
{
    bool ok = execute(database, SCHEMA, error);
    for (size_t i = 0; ok && i < sizeof copied / sizeof *copied; i++)
        ok = copy_table(database, copied[i], error);
    return ok && insert(database, STACKS, error) && insert(database, CALLS, error) &&
           execute(database, VIEWS, error);
}

/* ---- the database ---- */

/* About so many of SQLite's steps are done for a call. */
static int show_progress(void *context)
{
    enum { STEPS_OF_CALL = 25, STEPS = 1 << 20 };
    struct database *database = context;
    uint64_t calls = database->steps++ * STEPS / STEPS_OF_CALL;
    log_progress("Writing calls", calls < database->calls ? calls : database->calls,
                 database->calls);
    return 0;
}

static bool open_database(struct database *database, struct table_trace *trace, struct error *error)
{
    int status = sqlite3_open_v2("trace", &database->connection,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                 DESCRIPTOR_VFS_NAME);
    if (status != SQLITE_OK)
        return fail(database, error);
    database->calls = trace_index_facts(trace->index)->spans;
    sqlite3_progress_handler(database->connection, 1 << 20, show_progress, database);
    return trace_tables_register(database->connection, trace, READ, error);
}

static bool write_database(const struct trace_index *index, uint64_t origin, int descriptor,
                           const char *path, struct error *error)
{
    struct table_trace *trace = table_trace_new(index);
    struct database database = {.path = path, .origin = origin};
    if (descriptor_vfs_begin(&database.vfs, descriptor) != SQLITE_OK) {
        table_trace_free(trace);
        return error_set(error, ERROR_IO, "cannot start SQLite");
    }
    bool ok = open_database(&database, trace, error) && write_tables(&database, error);
    if (sqlite3_close(database.connection) != SQLITE_OK && ok)
        ok = fail(&database, error);
    log_progress_end();
    descriptor_vfs_end(&database.vfs);
    table_trace_free(trace);
    return ok;
}

/* ---- the index ---- */

/* The exported spans, with the time of the first: that is time 0 of the index. */
struct noted_source {
    struct span_source *source;
    struct span_event room;
    struct nanoseconds first;
    bool began;
};

static size_t take_noting(struct span_source *source, const struct span_event **events,
                          struct error *error)
{
    struct noted_source *noted = source->context;
    size_t count = span_source_take(noted->source, &noted->room, events, error);
    source->function_count = noted->source->function_count;
    if (count > 0 && !noted->began) {
        noted->began = true;
        noted->first = (*events)[0].time;
    }
    return count;
}

/* Beside the output, because it is large; it is mapped, so its name can go at once. */
static struct trace_index *index_spans(const struct export_trace *trace, const char *path,
                                       struct nanoseconds *first, struct error *error)
{
    struct noted_source noted = {.source = trace->source};
    struct span_source source = *trace->source;
    source.context = &noted;
    source.take = take_noting; /* which is all that index_build() asks */
    char *name = memory_format("%s.%ld.magic-trace-index", path, (long)getpid());
    struct trace_index *index = NULL;
    if (index_build(&source, name, 1, error))
        index = trace_index_open(name, error);
    unlink(name);
    free(name);
    *first = noted.first;
    return index;
}

static bool write_sqlite(const struct export_trace *trace, int descriptor, const char *path,
                         struct export_summary *summary, struct error *error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return error_set(error, ERROR_USAGE,
                         "%s is no regular file, and a database cannot be written from beginning "
                         "to end. Give a file with -output",
                         path);
    struct nanoseconds first;
    struct trace_index *index = index_spans(trace, path, &first, error);
    if (!index)
        return false;
    const struct index_facts *facts = trace_index_facts(index);
    uint64_t origin = first.value - export_trace_origin(trace, first).value;
    bool ok = write_database(index, origin, descriptor, path, error);
    summary->spans = facts->spans;
    if (facts->damage)
        error_set(&summary->damage, ERROR_FORMAT, "%s", facts->damage);
    trace_index_close(index);
    return ok;
}

const struct export_format export_sqlite = {
    .name = "sqlite",
    .suffix = ".db",
    .summary = "a database of SQLite's, with the tables of query",
    .manual = "A database of SQLite's with the tables that magic-trace-query(1) describes, under "
              "the same names; `calls`, `stacks` and `gaps` are views. Times are those of the "
              "whole trace. It takes 65 to 125 bytes a call, and cannot be written to a pipe or "
              "compressed.",
    .write_file = write_sqlite,
};
