/* The table of calls: rows are read chunk by chunk while SQLite asks for them, and the constraints
 * on numbers, times, thread, function, caller and depth decide which chunks (index/call_scan.h).
 *
 * SQLite examines every constraint once more, so bounds may be too wide, never too narrow.
 */
#include "analysis/query/trace_tables.h"

#include "base/memory.h"
#include "index/valued_calls.h"
#include "output/span_words.h"
#include "stack/spans/span.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum column {
    CALL_ID,
    CALL_PARENT,
    CALL_FUNCTION,
    CALL_FUNCTION_ID,
    CALL_THREAD,
    CALL_THREAD_ID,
    CALL_PROCESS,
    CALL_PID,
    CALL_TID,
    CALL_DEPTH,
    CALL_START,
    CALL_END,
    CALL_DURATION,
    CALL_SELF,
    CALL_ON_CPU,
    CALL_WHOLE,
    CALL_END_REASON,
    CALL_SEEN,
    CALL_SYMBOL,
    CALL_FILE,
    CALL_LINE,
    CALL_ADDRESS,
    CALL_CODE,
    CALL_ARGUMENTS,
    CALL_RESULT,
    CALL_PLACE,
};

static const struct table_column columns[] = {
    [CALL_ID] = {"id", "INTEGER",
                 "number of the call, from 1: thread by thread, in the order of ends"},
    [CALL_PARENT] = {"parent", "INTEGER",
                     "id of the call that made it; NULL: it is an outermost one"},
    [CALL_FUNCTION] = {"function", "TEXT", "name of the function"},
    [CALL_FUNCTION_ID] = {"function_id", "INTEGER", "functions.id"},
    [CALL_THREAD] = {"thread", "TEXT", "name of the thread"},
    [CALL_THREAD_ID] = {"thread_id", "INTEGER", "threads.id"},
    [CALL_PROCESS] = {"process", "TEXT", "name of the process"},
    [CALL_PID] = {"pid", "INTEGER", "its number"},
    [CALL_TID] = {"tid", "INTEGER", "number of the thread"},
    [CALL_DEPTH] = {"depth", "INTEGER", "number of calls around it, in the trace"},
    [CALL_START] = {"start", "INTEGER", "when it began"},
    [CALL_END] = {"end", "INTEGER", "when it ended"},
    [CALL_DURATION] = {"duration", "INTEGER", "end - start"},
    [CALL_SELF] = {"self", "INTEGER", "duration without that of the calls it made"},
    [CALL_ON_CPU] =
        {"on_cpu", "INTEGER",
         "duration without the time in which its thread was not running; NULL: that is not known"},
    [CALL_WHOLE] = {"whole", "INTEGER", "1: its beginning and its end were seen; else 0"},
    [CALL_END_REASON] = {"end_reason", "TEXT",
                         "return, tail call, unwound, gap, end of trace, exec, filter, switch"},
    [CALL_SEEN] = {"seen", "TEXT",
                   "yes; or what is inferred: start inferred, end inferred, across gap"},
    [CALL_SYMBOL] = {"symbol", "TEXT", "as in the symbol table, where that is not the name"},
    [CALL_FILE] = {"file", "TEXT", "source file of the function"},
    [CALL_LINE] = {"line", "INTEGER", "line of it on which the function begins"},
    [CALL_ADDRESS] = {"address", "TEXT", "where the function begins in the process"},
    [CALL_CODE] = {"code", "TEXT",
                   "own, library, kernel, inlined, special ([syscall] and the like)"},
    [CALL_ARGUMENTS] = {"arguments", "TEXT",
                        "those that were recorded (-args): size=4096, name=\"x\"; see args"},
    [CALL_RESULT] = {"result", "TEXT", "the same of what it returned"},
    [CALL_PLACE] = {"place", "INTEGER HIDDEN", "places.id; not part of *"},
};

const struct trace_table calls_table = {
    .name = "calls",
    .summary = "Each call of each function.",
    .columns = columns,
    .column_count = sizeof columns / sizeof *columns,
};

/* ---- planning ---- */

/* Constraints that the scan can use, and what each leaves of the rows, about. */
struct usable {
    enum column column;
    bool is_range; /* <, <=, >, >= too */
    double share;
};

static const struct usable usables[] = {
    {CALL_ID, true, 0},           {CALL_PARENT, false, 1e-6},
    {CALL_FUNCTION, false, 0.01}, {CALL_FUNCTION_ID, false, 0.01},
    {CALL_THREAD, false, 0.3},    {CALL_THREAD_ID, false, 0.1},
    {CALL_PID, false, 0.3},       {CALL_TID, false, 0.1},
    {CALL_DEPTH, false, 0.5},     {CALL_START, true, 0.05},
    {CALL_END, true, 0.05},       {CALL_DURATION, true, 0.1},
};

static const struct usable *find_usable(int column, unsigned char comparison)
{
    if (column == -1)
        column = CALL_ID;
    bool is_equality = comparison == SQLITE_INDEX_CONSTRAINT_EQ;
    bool is_range =
        comparison == SQLITE_INDEX_CONSTRAINT_GT || comparison == SQLITE_INDEX_CONSTRAINT_GE ||
        comparison == SQLITE_INDEX_CONSTRAINT_LT || comparison == SQLITE_INDEX_CONSTRAINT_LE;
    for (size_t i = 0; i < sizeof usables / sizeof *usables; i++)
        if ((int)usables[i].column == column && (is_equality || (is_range && usables[i].is_range)))
            return &usables[i];
    return NULL;
}

/* Names are compared byte by byte; another collation must be left to SQLite. */
static bool is_binary(sqlite3_index_info *info, int constraint)
{
    return strcmp(sqlite3_vtab_collation(info, constraint), "BINARY") == 0;
}

/* xFilter gets, of each constraint that is used, two characters: the column and the comparison. */
static char column_code(enum column column)
{
    return (char)('A' + column);
}

static char comparison_code(unsigned char comparison)
{
    switch (comparison) {
    case SQLITE_INDEX_CONSTRAINT_GT:
        return '>';
    case SQLITE_INDEX_CONSTRAINT_GE:
        return 'g';
    case SQLITE_INDEX_CONSTRAINT_LT:
        return '<';
    case SQLITE_INDEX_CONSTRAINT_LE:
        return 'l';
    default:
        return '=';
    }
}

/* Rows come in the order of their numbers, which is also that of threads. */
static bool is_in_order(const sqlite3_index_info *info)
{
    if (info->nOrderBy != 1 || info->aOrderBy[0].desc)
        return false;
    int column = info->aOrderBy[0].iColumn;
    return column == -1 || column == CALL_ID || column == CALL_THREAD_ID;
}

static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct connected_table *connected = (const struct connected_table *)base;
    double rows = (double)trace_index_facts(connected->trace->index)->spans + 1;
    sqlite3_str *used = sqlite3_str_new(NULL);
    int arguments = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        const struct usable *usable = find_usable(constraint->iColumn, constraint->op);
        if (!constraint->usable || !usable || !is_binary(info, i))
            continue;
        info->aConstraintUsage[i].argvIndex = ++arguments;
        sqlite3_str_appendchar(used, 1, column_code(usable->column));
        sqlite3_str_appendchar(used, 1, comparison_code(constraint->op));
        if (usable->column == CALL_ID)
            rows = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ ? 1 : rows / 3;
        else
            rows *= usable->share;
    }
    info->orderByConsumed = is_in_order(info);
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = 1000 + rows; /* a chunk is read for a single row, too */
    if (arguments == 0) {
        sqlite3_free(sqlite3_str_finish(used));
        return SQLITE_OK;
    }
    info->idxStr = sqlite3_str_finish(used);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- what a query asks for ---- */

struct call_cursor {
    sqlite3_vtab_cursor base;
    struct call_scan *scan;
    bool *tracks; /* by track, whether it is wanted; owned */
    bool ended;
    struct index_span call;
    struct index_function function; /* of the call */
};

static struct call_cursor *cursor_of(sqlite3_vtab_cursor *cursor)
{
    return (struct call_cursor *)cursor;
}

static const struct table_trace *trace_of(const sqlite3_vtab_cursor *cursor)
{
    return ((const struct connected_table *)cursor->pVtab)->trace;
}

/* The whole numbers x with "x comparison value": `max` below `min` when no number does. */
static struct call_bound bound_of(char comparison, double value)
{
    struct call_bound bound = {0, UINT64_MAX};
    const double limit = 9.0e18; /* beyond all times and numbers */
    bool is_least = comparison == '>' || comparison == 'g' || comparison == '=';
    bool is_most = comparison == '<' || comparison == 'l' || comparison == '=';
    /* Doubles have 53 bits: above, the neighbours are let in, and SQLite examines them. */
    double slack = fabs(value) >= 4.5e15 ? fabs(value) * 1e-15 : 0;
    double least = ceil(value) - slack, most = floor(value) + slack;
    if (is_least && least > limit)
        return (struct call_bound){1, 0};
    if (is_least && least > 0)
        bound.min = (uint64_t)least;
    if (is_most && most < 0)
        return (struct call_bound){1, 0};
    if (is_most && most < limit)
        bound.max = (uint64_t)most;
    return bound;
}

static void intersect(struct call_bound *bound, struct call_bound other)
{
    if (other.min > bound->min)
        bound->min = other.min;
    if (other.max < bound->max)
        bound->max = other.max;
}

/* A number that is no number of anything leaves nothing. */
static bool take_id(uint32_t *id, double value)
{
    if (value < 0 || value >= UINT32_MAX || value != floor(value))
        return false;
    if (*id != CALL_ANY && *id != (uint32_t)value)
        return false;
    *id = (uint32_t)value;
    return true;
}

static bool take_function(const struct table_trace *trace, const char *name,
                          struct call_bounds *bounds)
{
    uint32_t count = trace_index_facts(trace->index)->functions;
    uint32_t group = 0;
    while (group < count &&
           !(trace->functions[group] && strcmp(trace->functions[group], name) == 0))
        group++;
    return group < count && take_id(&bounds->group, group);
}

static bool is_track(const struct table_trace *trace, uint32_t track, enum column column,
                     sqlite3_value *value)
{
    const struct index_track facts = trace_index_track(trace->index, track);
    switch (column) {
    case CALL_THREAD:
        return strcmp(trace->threads[track], (const char *)sqlite3_value_text(value)) == 0;
    case CALL_THREAD_ID:
        return track == sqlite3_value_double(value);
    case CALL_PID:
        return facts.pid == sqlite3_value_double(value);
    default:
        return facts.tid == sqlite3_value_double(value);
    }
}

static bool take_tracks(struct call_cursor *cursor, enum column column, sqlite3_value *value,
                        struct call_bounds *bounds)
{
    const struct table_trace *trace = trace_of(&cursor->base);
    uint32_t count = trace_index_facts(trace->index)->tracks;
    bool any = false;
    if (!bounds->tracks)
        memset(cursor->tracks, true, count);
    bounds->tracks = cursor->tracks;
    for (uint32_t i = 0; i < count; i++) {
        cursor->tracks[i] &= is_track(trace, i, column, value);
        any |= cursor->tracks[i];
    }
    return any;
}

/* What a call calls runs within it, one deeper. False without an error: there is no such call. */
static bool take_caller(struct call_cursor *cursor, sqlite3_value *value,
                        struct call_bounds *bounds, struct error *error)
{
    struct call_bounds caller = call_bounds_all();
    caller.number = bound_of('=', sqlite3_value_double(value));
    call_scan_begin(cursor->scan, &caller);
    if (!call_scan_next(cursor->scan, error))
        return false;
    struct index_span span = call_scan_call(cursor->scan);
    uint32_t track = call_scan_track(cursor->scan);
    const struct call_bound within = {span.start, span.end};
    intersect(&bounds->start, within);
    intersect(&bounds->end, within);
    intersect(&bounds->number, (struct call_bound){0, call_scan_number(cursor->scan) - 1});
    if (!take_id(&bounds->depth, span.depth + 1))
        return false;
    uint32_t count = trace_index_facts(trace_of(&cursor->base)->index)->tracks;
    for (uint32_t i = 0; i < count; i++)
        cursor->tracks[i] = i == track && (!bounds->tracks || cursor->tracks[i]);
    bounds->tracks = cursor->tracks;
    return true;
}

/* False: no call fulfils the constraint, or an error. */
static bool take_constraint(struct call_cursor *cursor, const char *code, sqlite3_value *value,
                            struct call_bounds *bounds, struct error *error)
{
    enum column column = (enum column)(code[0] - 'A');
    char comparison = code[1];
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return false;
    if (column == CALL_FUNCTION)
        return take_function(trace_of(&cursor->base), (const char *)sqlite3_value_text(value),
                             bounds);
    if (column == CALL_THREAD)
        return take_tracks(cursor, column, value, bounds);
    int type = sqlite3_value_numeric_type(value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return true; /* texts are greater than all numbers: SQLite knows how */
    double number = sqlite3_value_double(value);
    switch (column) {
    case CALL_ID:
        intersect(&bounds->number, bound_of(comparison, number));
        return true;
    case CALL_PARENT:
        return take_caller(cursor, value, bounds, error);
    case CALL_FUNCTION_ID:
        return take_id(&bounds->group, number);
    case CALL_DEPTH:
        return take_id(&bounds->depth, number);
    case CALL_START:
        intersect(&bounds->start, bound_of(comparison, number));
        return true;
    case CALL_END:
        intersect(&bounds->end, bound_of(comparison, number));
        return true;
    case CALL_DURATION:
        intersect(&bounds->duration, bound_of(comparison, number));
        return true;
    default:
        return take_tracks(cursor, column, value, bounds);
    }
}

/* ---- reading ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **opened)
{
    struct table_trace *trace = ((struct connected_table *)base)->trace;
    struct call_cursor *cursor = memory_allocate_zeroed(sizeof *cursor);
    cursor->scan = call_scan_new(trace->numbers);
    cursor->tracks = memory_allocate(trace_index_facts(trace->index)->tracks + 1);
    *opened = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct call_cursor *cursor = cursor_of(base);
    call_scan_free(cursor->scan);
    free(cursor->tracks);
    free(cursor);
    return SQLITE_OK;
}

static int next_call(sqlite3_vtab_cursor *base)
{
    struct call_cursor *cursor = cursor_of(base);
    struct error error = {0};
    cursor->ended = !call_scan_next(cursor->scan, &error);
    if (error.code != ERROR_NONE)
        return fail_table(base->pVtab, &error);
    if (!cursor->ended) {
        cursor->call = call_scan_call(cursor->scan);
        cursor->function = trace_index_function(trace_of(base)->index, cursor->call.function);
    }
    return SQLITE_OK;
}

static int begin_reading(sqlite3_vtab_cursor *base, int number, const char *used, int count,
                         sqlite3_value **values)
{
    (void)number;
    struct call_cursor *cursor = cursor_of(base);
    struct call_bounds bounds = call_bounds_all();
    struct error error = {0};
    cursor->ended = false;
    for (int i = 0; i < count && !cursor->ended; i++)
        cursor->ended = !take_constraint(cursor, used + 2 * (size_t)i, values[i], &bounds, &error);
    if (error.code != ERROR_NONE)
        return fail_table(base->pVtab, &error);
    if (cursor->ended)
        return SQLITE_OK;
    call_scan_begin(cursor->scan, &bounds);
    return next_call(base);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    return cursor_of(base)->ended;
}

/* ---- columns ---- */

static void put_seen(sqlite3_context *context, uint8_t flags)
{
    static const char *const WORDS[] = {
        "yes",
        "start inferred",
        "end inferred",
        "start inferred; end inferred",
        "across gap",
        "start inferred; across gap",
        "end inferred; across gap",
        "start inferred; end inferred; across gap",
    };
    put_text(context, WORDS[flags & 7]);
}

static int put_searched(struct call_cursor *cursor, enum column column, sqlite3_context *context)
{
    uint64_t number;
    struct error error = {0};
    bool ok = column == CALL_SELF ? call_scan_self(cursor->scan, &number, &error)
                                  : call_scan_caller(cursor->scan, &number, &error);
    if (!ok)
        return fail_table(cursor->base.pVtab, &error);
    if (column == CALL_SELF)
        put_number(context, number);
    else
        put_number_or_null(context, number);
    return SQLITE_OK;
}

static int put_on_cpu(struct call_cursor *cursor, sqlite3_context *context)
{
    struct off_cpu_times *off_cpu = trace_of(&cursor->base)->off_cpu;
    const struct index_range range = {cursor->call.start, cursor->call.end};
    struct error error = {0};
    if (!off_cpu_times_known(off_cpu))
        return SQLITE_OK;
    if (!off_cpu_times_read(off_cpu, &error))
        return fail_table(cursor->base.pVtab, &error);
    uint32_t track = call_scan_track(cursor->scan);
    put_number(context, range.to - range.from - off_cpu_times_within(off_cpu, track, range));
    return SQLITE_OK;
}

/* The arguments, or the result, as text. */
static int put_values(struct call_cursor *cursor, enum column column, sqlite3_context *context)
{
    const struct table_trace *trace = trace_of(&cursor->base);
    uint32_t track = call_scan_track(cursor->scan);
    uint64_t ended = call_numbers_ended(trace->numbers, track, call_scan_number(cursor->scan));
    struct valued_call call;
    struct error error = {0};
    struct arena memory = {0};
    bool found;
    bool ok = index_values_of_call(trace->index, track, ended, &call, &found, &error);
    if (ok && found) {
        struct named_values values;
        ok = index_values_of(trace->index, &call, &memory, &values, &error);
        const char *text = NULL;
        if (ok && column == CALL_ARGUMENTS)
            text = values.count > values.has_result ? named_values_join_arguments(&memory, &values)
                                                    : NULL;
        else if (ok && values.has_result)
            text = values.values[values.count - 1].text;
        put_repaired_text(context, text);
    }
    arena_free(&memory);
    return ok ? SQLITE_OK : fail_table(cursor->base.pVtab, &error);
}

static void put_thread_column(const struct table_trace *trace, uint32_t track, enum column column,
                              sqlite3_context *context)
{
    switch (column) {
    case CALL_THREAD:
        put_text(context, trace->threads[track]);
        break;
    case CALL_THREAD_ID:
        put_number(context, track);
        break;
    case CALL_PROCESS:
        put_text(context, trace->processes[track]);
        break;
    case CALL_PID:
        put_number(context, trace_index_track(trace->index, track).pid);
        break;
    default:
        put_number(context, trace_index_track(trace->index, track).tid);
        break;
    }
}

/* Whether beginning and end were seen, as reports count whole calls (index/span_scan.h). */
static bool is_whole(const struct index_span *span)
{
    return (span->flags & (SPAN_START_INFERRED | SPAN_END_INFERRED)) == 0 &&
           span->ending != SPAN_END_GAP && span->ending != SPAN_END_OF_TRACE;
}

static int put_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number)
{
    struct call_cursor *cursor = cursor_of(base);
    const struct table_trace *trace = trace_of(base);
    const struct index_span *call = &cursor->call;
    enum column column = (enum column)number;
    switch (column) {
    case CALL_ID:
        put_number(context, call_scan_number(cursor->scan));
        break;
    case CALL_PARENT:
    case CALL_SELF:
        return put_searched(cursor, column, context);
    case CALL_ON_CPU:
        return put_on_cpu(cursor, context);
    case CALL_FUNCTION:
        put_text(context, trace->functions[cursor->function.group]);
        break;
    case CALL_DEPTH:
        put_number(context, call->depth);
        break;
    case CALL_START:
        put_number(context, call->start);
        break;
    case CALL_END:
        put_number(context, call->end);
        break;
    case CALL_DURATION:
        put_number(context, call->end - call->start);
        break;
    case CALL_PLACE:
        put_number(context, call->function);
        break;
    case CALL_WHOLE:
        put_number(context, is_whole(call));
        break;
    case CALL_END_REASON:
        put_text(context, span_end_word((enum span_end)call->ending));
        break;
    case CALL_SEEN:
        put_seen(context, call->flags);
        break;
    case CALL_ARGUMENTS:
    case CALL_RESULT:
        return put_values(cursor, column, context);
    case CALL_THREAD:
    case CALL_THREAD_ID:
    case CALL_PROCESS:
    case CALL_PID:
    case CALL_TID:
        put_thread_column(trace, call_scan_track(cursor->scan), column, context);
        break;
    case CALL_FUNCTION_ID:
        put_number(context, cursor->function.group);
        break;
    default:
        put_function_fact(context, &cursor->function,
                          (enum function_fact)(column - CALL_SYMBOL + FACT_SYMBOL));
        break;
    }
    return SQLITE_OK;
}

static int put_row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = (sqlite3_int64)call_scan_number(cursor_of(base)->scan);
    return SQLITE_OK;
}

/* No xCreate: the table exists under its own name alone. */
const sqlite3_module calls_module = {
    .xConnect = connect_table,
    .xBestIndex = plan,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = begin_reading,
    .xNext = next_call,
    .xEof = is_at_end,
    .xColumn = put_column,
    .xRowid = put_row_number,
};
