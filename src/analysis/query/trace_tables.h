/* The tables in which SQL sees a trace: SQLite's virtual tables over its index.
 *
 * Called by read_only_database.c and export_sqlite.c, which register them with a connection. Nothing is
 * imported: rows are read from the index when a query asks for them. A new table is a struct
 * trace_table and a row in trace_tables.c; the columns with their meanings are also what the man
 * page and the prompt's `.schema` print. Times are ns since the beginning of the trace.
 *
 * SQLite's interface: https://www.sqlite.org/vtab.html
 */
#ifndef MAGIC_TRACE_ANALYSIS_QUERY_TRACE_TABLES_H
#define MAGIC_TRACE_ANALYSIS_QUERY_TRACE_TABLES_H

#include "base/array.h"
#include "base/error.h"
#include "index/call_scan.h"
#include "index/off_cpu_times.h"
#include "index/trace_index.h"

#include <sqlite3.h>

struct table_column {
    const char *name;
    const char *type;    /* as SQL has it: "INTEGER" */
    const char *meaning; /* one line */
};

/* A trace as the tables need it; the tables' functions get it as their first argument. */
struct table_trace {
    const struct trace_index *index;
    struct call_numbers *numbers;
    struct off_cpu_times *off_cpu;
    char **functions; /* names, by group, in valid UTF-8 */
    char **processes; /* the same by track */
    char **threads;
};

/* What a query wants of a table whose rows are made for it. */
struct rows_wanted {
    struct index_tracks tracks;
    struct index_range range;
    bool all_calls;   /* durations of calls that are not whole count, too */
    uint64_t columns; /* bit i: column i is wanted; 63 stands for all from there on */
};

static inline bool rows_wanted_column(const struct rows_wanted *wanted, unsigned column)
{
    return wanted->columns >> (column < 63 ? column : 63) & 1;
}

struct trace_table {
    const char *name;
    const char *summary; /* one line */
    const struct table_column *columns;
    size_t column_count;
    /* So many of the last columns are hidden parameters: the first of enum table_parameter. */
    int parameters;
    size_t row_size;
    /* Appends the rows to an array of elements of row_size bytes. NULL: the table is that of calls
     * (calls_table.c), whose rows are never all in memory. */
    bool (*make)(const struct table_trace *trace, const struct rows_wanted *wanted,
                 struct array *rows, struct error *error);
    /* Gives the value of a column of row `number` (from 0) to SQLite. */
    void (*put)(const struct table_trace *trace, const struct array *rows, size_t number,
                unsigned column, sqlite3_context *context);
};

/* Say what the rows are made of; they follow the other columns in this order. */
enum table_parameter {
    PARAMETER_SINCE,
    PARAMETER_UNTIL,
    PARAMETER_THREAD,
    RANGE_PARAMETERS,
    PARAMETER_ALL_CALLS = RANGE_PARAMETERS,
    TABLE_PARAMETERS
};
#define RANGE_COLUMNS                                                                              \
    {"since", "INTEGER HIDDEN", "only what runs from this time on; calls are cut there"},          \
        {"until", "INTEGER HIDDEN", "only what runs before this time; calls are cut there"},       \
    {                                                                                              \
        "in_thread", "INTEGER HIDDEN", "only of this thread (threads.id)"                          \
    }

extern const struct trace_table calls_table, functions_table, threads_table, stacks_table,
    places_table, args_table, hits_table, marks_table, gaps_table, counters_table, trace_table;

/* All tables, in the order of the documentation; NULL after the last. */
const struct trace_table *trace_table_at(size_t index);

/* What SQL would create the table; the caller frees by sqlite3_free(). */
char *trace_table_declaration(const struct trace_table *table);

/* The index must outlive it. */
struct table_trace *table_trace_new(const struct trace_index *index);
void table_trace_free(struct table_trace *trace);

/* Gives all tables to a connection, under their names with `prefix` in front. `trace` must outlive
 * it. */
bool trace_tables_register(sqlite3 *database, struct table_trace *trace, const char *prefix,
                           struct error *error);

/* SQLite's module of the table of calls, and of all others. */
extern const sqlite3_module calls_module, made_rows_module;

/* ---- for the modules ---- */

/* A table of a connection. */
struct connected_table {
    sqlite3_vtab base;
    struct table_trace *trace;
    const struct trace_table *table;
};

int connect_table(sqlite3 *database, void *client, int count, const char *const *arguments,
                  sqlite3_vtab **table, char **message);
int disconnect_table(sqlite3_vtab *table);

/* Makes `error` that of the table; gives the code for SQLite. */
int fail_table(sqlite3_vtab *table, const struct error *error);

/* NULL becomes SQL's NULL. `text` must live as long as the statement. */
void put_text(sqlite3_context *context, const char *text);
/* The same of what may be no UTF-8. */
void put_repaired_text(sqlite3_context *context, const char *text);
void put_number(sqlite3_context *context, uint64_t number);
/* 0 becomes NULL. */
void put_number_or_null(sqlite3_context *context, uint64_t number);
/* "0x7f..."; 0 becomes NULL. */
void put_address(sqlite3_context *context, uint64_t address);
/* What several tables say of a function; its code in the words of span_origin_word(). */
enum function_fact { FACT_SYMBOL, FACT_FILE, FACT_LINE, FACT_ADDRESS, FACT_CODE };
void put_function_fact(sqlite3_context *context, const struct index_function *function,
                       enum function_fact fact);

#endif
