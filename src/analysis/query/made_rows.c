/* SQLite's module of the tables whose rows are made when a query begins to read them: all but that
 * of calls (trace_tables.h). */
#include "analysis/query/trace_tables.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

struct made_cursor {
    sqlite3_vtab_cursor base;
    struct array rows;
    size_t at;
};

static const struct connected_table *table_of(const sqlite3_vtab *table)
{
    return (const struct connected_table *)table;
}

/* ---- planning ---- */

/* Which hidden parameters have a value, in the order of xFilter's arguments: bit `parameter`. */
static int find_parameters(const struct trace_table *table, sqlite3_index_info *info)
{
    int parameters = 0, argument = 0;
    size_t first = table->column_count - (size_t)table->parameters;
    for (int parameter = 0; parameter < table->parameters; parameter++)
        for (int i = 0; i < info->nConstraint; i++) {
            const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
            if (!constraint->usable || constraint->op != SQLITE_INDEX_CONSTRAINT_EQ ||
                constraint->iColumn != (int)first + parameter || parameters >> parameter & 1)
                continue;
            parameters |= 1 << parameter;
            info->aConstraintUsage[i].argvIndex = ++argument;
            info->aConstraintUsage[i].omit = 1;
        }
    return parameters;
}

/* A parameter without value yet, because it is another table's, must wait for that. */
static bool waits(const struct trace_table *table, const sqlite3_index_info *info)
{
    size_t first = table->column_count - (size_t)table->parameters;
    for (int i = 0; i < info->nConstraint; i++)
        if (info->aConstraint[i].iColumn >= (int)first && !info->aConstraint[i].usable)
            return true;
    return false;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct connected_table *connected = table_of(base);
    const struct trace_table *table = connected->table;
    if (waits(table, info))
        return SQLITE_CONSTRAINT;
    info->idxNum = find_parameters(table, info);
    info->idxStr = sqlite3_mprintf("%llx", (unsigned long long)info->colUsed);
    if (!info->idxStr)
        return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    info->estimatedRows = 10000;
    /* Made again for each row of an outer loop they would cost too much. */
    info->estimatedCost = table->parameters > 0
                              ? 1e6 + (double)trace_index_facts(connected->trace->index)->spans
                              : 1e6;
    return SQLITE_OK;
}

/* ---- reading ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor)
{
    struct made_cursor *made = memory_allocate_zeroed(sizeof *made);
    made->rows = array_of(table_of(base)->table->row_size);
    *cursor = &made->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    struct made_cursor *made = (struct made_cursor *)cursor;
    array_free(&made->rows);
    free(made);
    return SQLITE_OK;
}

static uint64_t time_of(sqlite3_value *value)
{
    sqlite3_int64 time = sqlite3_value_int64(value);
    return time < 0 ? 0 : (uint64_t)time;
}

/* False: the parameter is NULL, or names no thread, and there are no rows. */
static bool take_parameter(const struct table_trace *trace, enum table_parameter parameter,
                           sqlite3_value *value, struct rows_wanted *wanted, uint32_t *track)
{
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return false;
    switch (parameter) {
    case PARAMETER_SINCE:
        wanted->range.from = time_of(value);
        return true;
    case PARAMETER_UNTIL:
        wanted->range.to = time_of(value);
        return true;
    case PARAMETER_ALL_CALLS:
        wanted->all_calls = sqlite3_value_int64(value) != 0;
        return true;
    default:
        if (sqlite3_value_int64(value) < 0 ||
            sqlite3_value_int64(value) >= trace_index_facts(trace->index)->tracks)
            return false;
        *track = (uint32_t)sqlite3_value_int64(value);
        wanted->tracks = (struct index_tracks){track, 1};
        return true;
    }
}

static int begin_reading(sqlite3_vtab_cursor *cursor, int parameters, const char *columns,
                         int count, sqlite3_value **values)
{
    struct made_cursor *made = (struct made_cursor *)cursor;
    const struct connected_table *connected = table_of(cursor->pVtab);
    uint32_t track;
    struct rows_wanted wanted = {
        .range = {0, trace_index_facts(connected->trace->index)->duration + 1},
        .columns = strtoull(columns, NULL, 16),
    };
    made->rows.count = made->at = 0;
    int next = 0;
    for (int parameter = 0; parameter < TABLE_PARAMETERS && next < count; parameter++)
        if (parameters >> parameter & 1 &&
            !take_parameter(connected->trace, parameter, values[next++], &wanted, &track))
            return SQLITE_OK;
    if (wanted.range.from >= wanted.range.to)
        return SQLITE_OK;
    struct error error = {0};
    if (!connected->table->make(connected->trace, &wanted, &made->rows, &error))
        return fail_table(cursor->pVtab, &error);
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    ((struct made_cursor *)cursor)->at++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *cursor)
{
    const struct made_cursor *made = (const struct made_cursor *)cursor;
    return made->at >= made->rows.count;
}

static int put_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const struct made_cursor *made = (const struct made_cursor *)cursor;
    const struct connected_table *connected = table_of(cursor->pVtab);
    const struct trace_table *table = connected->table;
    size_t shown = table->column_count - (size_t)table->parameters;
    if ((size_t)column < shown)
        table->put(connected->trace, &made->rows, made->at, (unsigned)column, context);
    return SQLITE_OK;
}

static int put_row_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)((const struct made_cursor *)cursor)->at + 1;
    return SQLITE_OK;
}

/* No xCreate: the table exists under its own name alone. */
const sqlite3_module made_rows_module = {
    .xConnect = connect_table,
    .xBestIndex = plan,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin_reading,
    .xNext = next_row,
    .xEof = is_at_end,
    .xColumn = put_column,
    .xRowid = put_row_number,
};
