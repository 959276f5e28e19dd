/* The tables of what a trace holds besides calls: threads, places, hits of the trigger, marks, gaps,
 * counters, and the trace itself (trace_tables.h). */
#include "analysis/query/trace_tables.h"
#include "base/memory.h"
#include "index/marks.h"

/* ---- threads ---- */

enum thread_column {
    THREAD_ID,
    THREAD_PROCESS,
    THREAD_PID,
    THREAD_NAME,
    THREAD_TID,
    THREAD_CALLS,
    THREAD_LEVELS,
    THREAD_START,
    THREAD_END,
};

static const struct table_column thread_columns[] = {
    [THREAD_ID] = {"id", "INTEGER", "number of the thread in the trace"},
    [THREAD_PROCESS] = {"process", "TEXT", "name of its process"},
    [THREAD_PID] = {"pid", "INTEGER", "number of its process"},
    [THREAD_NAME] = {"thread", "TEXT", "its name"},
    [THREAD_TID] = {"tid", "INTEGER", "its number"},
    [THREAD_CALLS] = {"calls", "INTEGER", "number of its calls"},
    [THREAD_LEVELS] = {"levels", "INTEGER", "calls that were active at once, at most"},
    [THREAD_START] = {"start", "INTEGER", "when its first call begins; NULL: it has none"},
    [THREAD_END] = {"end", "INTEGER", "when its last call ends"},
};

static bool make_threads(const struct table_trace *trace, const struct rows_wanted *wanted,
                         struct array *rows, struct error *error)
{
    (void)wanted;
    (void)error;
    for (uint32_t i = 0; i < trace_index_facts(trace->index)->tracks; i++)
        if (!trace_index_track(trace->index, i).is_hits)
            array_add_all(rows, &i, 1);
    return true;
}

static void put_thread(const struct table_trace *trace, const struct array *rows, size_t number,
                       unsigned column, sqlite3_context *context)
{
    uint32_t id = *(uint32_t *)array_at(rows, number);
    const struct index_track track = trace_index_track(trace->index, id);
    switch ((enum thread_column)column) {
    case THREAD_ID:
        put_number(context, id);
        break;
    case THREAD_PROCESS:
        put_text(context, trace->processes[id]);
        break;
    case THREAD_PID:
        put_number(context, track.pid);
        break;
    case THREAD_NAME:
        put_text(context, trace->threads[id]);
        break;
    case THREAD_TID:
        put_number(context, track.tid);
        break;
    case THREAD_CALLS:
        put_number(context, track.spans);
        break;
    case THREAD_LEVELS:
        put_number(context, track.depth);
        break;
    case THREAD_START:
        if (track.spans)
            put_number(context, track.first);
        break;
    case THREAD_END:
        if (track.spans)
            put_number(context, track.last);
        break;
    }
}

const struct trace_table threads_table = {
    .name = "threads",
    .summary = "Each thread that was recorded.",
    .columns = thread_columns,
    .column_count = sizeof thread_columns / sizeof *thread_columns,
    .row_size = sizeof(uint32_t),
    .make = make_threads,
    .put = put_thread,
};

/* ---- places ---- */

enum place_column {
    PLACE_ID,
    PLACE_FUNCTION,
    PLACE_FUNCTION_ID,
    PLACE_SYMBOL,
    PLACE_FILE,
    PLACE_LINE,
    PLACE_ADDRESS,
    PLACE_CODE,
};

static const struct table_column place_columns[] = {
    [PLACE_ID] = {"id", "INTEGER", "number of the place"},
    [PLACE_FUNCTION] = {"function", "TEXT", "name of the function"},
    [PLACE_FUNCTION_ID] = {"function_id", "INTEGER", "functions.id"},
    [PLACE_SYMBOL] = {"symbol", "TEXT", "as in the symbol table, where that is not the name"},
    [PLACE_FILE] = {"file", "TEXT", "source file"},
    [PLACE_LINE] = {"line", "INTEGER", "line of it on which the function begins"},
    [PLACE_ADDRESS] = {"address", "TEXT", "where the function begins in the process"},
    [PLACE_CODE] = {"code", "TEXT",
                    "own, library, kernel, inlined, special ([syscall] and the like)"},
};

static bool make_places(const struct table_trace *trace, const struct rows_wanted *wanted,
                        struct array *rows, struct error *error)
{
    (void)wanted;
    (void)error;
    for (uint32_t i = 0; i < trace_index_facts(trace->index)->functions; i++)
        array_add_all(rows, &i, 1);
    return true;
}

static void put_place(const struct table_trace *trace, const struct array *rows, size_t number,
                      unsigned column, sqlite3_context *context)
{
    uint32_t id = *(uint32_t *)array_at(rows, number);
    const struct index_function function = trace_index_function(trace->index, id);
    switch ((enum place_column)column) {
    case PLACE_ID:
        put_number(context, id);
        break;
    case PLACE_FUNCTION:
        put_text(context, trace->functions[function.group]);
        break;
    case PLACE_FUNCTION_ID:
        put_number(context, function.group);
        break;
    default:
        put_function_fact(context, &function,
                          (enum function_fact)(column - PLACE_SYMBOL + FACT_SYMBOL));
        break;
    }
}

const struct trace_table places_table = {
    .name = "places",
    .summary =
        "Each place in the code at which a function begins: several of one name are several.",
    .columns = place_columns,
    .column_count = sizeof place_columns / sizeof *place_columns,
    .row_size = sizeof(uint32_t),
    .make = make_places,
    .put = put_place,
};

/* ---- hits ---- */

enum hit_column {
    HIT_ID,
    HIT_FUNCTION,
    HIT_START,
    HIT_TIME,
    HIT_ARGUMENT,
    HIT_ADDRESS,
    HIT_PID,
    HIT_TID,
};

static const struct table_column hit_columns[] = {
    [HIT_ID] = {"id", "INTEGER", "number of the hit, from 1, by start"},
    [HIT_FUNCTION] = {"function", "TEXT", "what was hit"},
    [HIT_START] = {"start", "INTEGER", "time that the program passed to the hit, or its moment"},
    [HIT_TIME] = {"time", "INTEGER", "when it was hit"},
    [HIT_ARGUMENT] = {"argument", "INTEGER", "the argument that the program passed; NULL: none"},
    [HIT_ADDRESS] = {"address", "TEXT", "where in the process"},
    [HIT_PID] = {"pid", "INTEGER", "number of the process"},
    [HIT_TID] = {"tid", "INTEGER", "number of the thread"},
};

static bool make_hits(const struct table_trace *trace, const struct rows_wanted *wanted,
                      struct array *rows, struct error *error)
{
    bool more;
    return index_hits(trace->index, wanted->range, SIZE_MAX, rows, &more, error);
}

static void put_hit(const struct table_trace *trace, const struct array *rows, size_t number,
                    unsigned column, sqlite3_context *context)
{
    (void)trace;
    const struct index_hit *hit = array_at(rows, number);
    switch ((enum hit_column)column) {
    case HIT_ID:
        put_number(context, number + 1);
        break;
    case HIT_FUNCTION:
        put_repaired_text(context, hit->name);
        break;
    case HIT_START:
        put_number(context, hit->start);
        break;
    case HIT_TIME:
        put_number(context, hit->end);
        break;
    case HIT_ARGUMENT:
        if (hit->has_argument)
            sqlite3_result_int64(context, hit->argument);
        break;
    case HIT_ADDRESS:
        put_address(context, hit->address);
        break;
    case HIT_PID:
        put_number(context, hit->pid);
        break;
    case HIT_TID:
        put_number(context, hit->tid);
        break;
    }
}

const struct trace_table hits_table = {
    .name = "hits",
    .summary = "Each hit of the trigger.",
    .columns = hit_columns,
    .column_count = sizeof hit_columns / sizeof *hit_columns,
    .row_size = sizeof(struct index_hit),
    .make = make_hits,
    .put = put_hit,
};

/* ---- marks and gaps ---- */

enum mark_column {
    MARK_TIME,
    MARK_KIND,
    MARK_TEXT,
    MARK_THREAD,
    MARK_THREAD_ID,
    MARK_PID,
    MARK_TID,
};

static const struct table_column mark_columns[] = {
    [MARK_TIME] = {"time", "INTEGER", "when"},
    [MARK_KIND] =
        {"kind", "TEXT",
         "gap: a part of the trace is missing; error: it could not be decoded; note: all else"},
    [MARK_TEXT] = {"text", "TEXT",
                   "what happened: [overflow], [decode error ...], an event of -events"},
    [MARK_THREAD] = {"thread", "TEXT", "name of the thread"},
    [MARK_THREAD_ID] = {"thread_id", "INTEGER", "threads.id"},
    [MARK_PID] = {"pid", "INTEGER", "number of the process"},
    [MARK_TID] = {"tid", "INTEGER", "number of the thread"},
};

static bool make_marks(const struct table_trace *trace, const struct rows_wanted *wanted,
                       struct array *rows, struct error *error)
{
    bool more;
    return index_marks(trace->index, wanted->range, SIZE_MAX, rows, &more, error);
}

static bool make_gaps(const struct table_trace *trace, const struct rows_wanted *wanted,
                      struct array *rows, struct error *error)
{
    if (!make_marks(trace, wanted, rows, error))
        return false;
    size_t kept = 0;
    struct index_mark *marks = rows->elements;
    for (size_t i = 0; i < rows->count; i++)
        if (marks[i].kind != MARK_NOTE)
            marks[kept++] = marks[i];
    rows->count = kept;
    return true;
}

static void put_mark(const struct table_trace *trace, const struct array *rows, size_t number,
                     unsigned column, sqlite3_context *context)
{
    static const char *const KINDS[] = {
        [MARK_GAP] = "gap", [MARK_ERROR] = "error", [MARK_NOTE] = "note"};
    const struct index_mark *mark = array_at(rows, number);
    switch ((enum mark_column)column) {
    case MARK_TIME:
        put_number(context, mark->time);
        break;
    case MARK_KIND:
        put_text(context, mark->kind <= MARK_NOTE ? KINDS[mark->kind] : KINDS[MARK_NOTE]);
        break;
    case MARK_TEXT:
        put_repaired_text(context, mark->text);
        break;
    case MARK_THREAD:
        put_text(context, trace->threads[mark->track]);
        break;
    case MARK_THREAD_ID:
        put_number(context, mark->track);
        break;
    case MARK_PID:
        put_number(context, trace_index_track(trace->index, mark->track).pid);
        break;
    case MARK_TID:
        put_number(context, trace_index_track(trace->index, mark->track).tid);
        break;
    }
}

const struct trace_table marks_table = {
    .name = "marks",
    .summary = "Each moment that the trace marks: losses, decode errors, events.",
    .columns = mark_columns,
    .column_count = sizeof mark_columns / sizeof *mark_columns,
    .row_size = sizeof(struct index_mark),
    .make = make_marks,
    .put = put_mark,
};

const struct trace_table gaps_table = {
    .name = "gaps",
    .summary = "Those marks at which a part of the trace is missing.",
    .columns = mark_columns,
    .column_count = sizeof mark_columns / sizeof *mark_columns,
    .row_size = sizeof(struct index_mark),
    .make = make_gaps,
    .put = put_mark,
};

/* ---- counters ---- */

enum counter_column { COUNTER_NAME, COUNTER_PID, COUNTER_TIME, COUNTER_VALUE };

static const struct table_column counter_columns[] = {
    [COUNTER_NAME] = {"counter", "TEXT", "what is counted, its unit in parentheses"},
    [COUNTER_PID] = {"pid", "INTEGER", "number of the process; 0: the whole machine"},
    [COUNTER_TIME] = {"time", "INTEGER", "from then on it has the value"},
    [COUNTER_VALUE] = {"value", "REAL", "the value"},
};

struct counter_row {
    uint32_t counter;
    struct counter_point point;
};

static bool make_counters(const struct table_trace *trace, const struct rows_wanted *wanted,
                          struct array *rows, struct error *error)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace_index_facts(trace->index)->counters; i++) {
        struct array points = array_of(sizeof(struct counter_point));
        ok = index_counter_points(trace->index, i, wanted->range,
                                  trace_index_counter(trace->index, i).samples + 1, &points, error);
        for (size_t j = 0; ok && j < points.count; j++)
            *(struct counter_row *)array_add(rows) =
                (struct counter_row){i, *(struct counter_point *)array_at(&points, j)};
        array_free(&points);
    }
    return ok;
}

static void put_counter(const struct table_trace *trace, const struct array *rows, size_t number,
                        unsigned column, sqlite3_context *context)
{
    const struct counter_row *row = array_at(rows, number);
    const struct index_counter counter = trace_index_counter(trace->index, row->counter);
    switch ((enum counter_column)column) {
    case COUNTER_NAME:
        put_repaired_text(context, counter.name);
        break;
    case COUNTER_PID:
        put_number(context, counter.pid);
        break;
    case COUNTER_TIME:
        put_number(context, row->point.time);
        break;
    case COUNTER_VALUE:
        sqlite3_result_double(context, row->point.last);
        break;
    }
}

const struct trace_table counters_table = {
    .name = "counters",
    .summary = "Each value of each counter.",
    .columns = counter_columns,
    .column_count = sizeof counter_columns / sizeof *counter_columns,
    .row_size = sizeof(struct counter_row),
    .make = make_counters,
    .put = put_counter,
};

/* ---- the trace ---- */

enum trace_column { TRACE_CALLS, TRACE_DURATION, TRACE_WALL_CLOCK, TRACE_DAMAGE };

static const struct table_column trace_columns[] = {
    [TRACE_CALLS] = {"calls", "INTEGER", "number of calls, and of times off a processor"},
    [TRACE_DURATION] = {"duration", "INTEGER", "from its first to its last event"},
    [TRACE_WALL_CLOCK] = {"wall_clock", "INTEGER",
                          "Unix time of its beginning, in ns; NULL: unknown"},
    [TRACE_DAMAGE] = {"damage", "TEXT", "what of the trace could not be read; NULL: all could"},
};

static bool make_trace(const struct table_trace *trace, const struct rows_wanted *wanted,
                       struct array *rows, struct error *error)
{
    (void)wanted;
    (void)error;
    array_add_all(rows, trace_index_facts(trace->index), 1);
    return true;
}

static uint64_t count_calls(const struct table_trace *trace)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < trace_index_facts(trace->index)->tracks; i++) {
        const struct index_track track = trace_index_track(trace->index, i);
        calls += track.is_hits ? 0 : track.spans;
    }
    return calls;
}

static void put_trace(const struct table_trace *trace, const struct array *rows, size_t number,
                      unsigned column, sqlite3_context *context)
{
    const struct index_facts *facts = array_at(rows, number);
    switch ((enum trace_column)column) {
    case TRACE_CALLS:
        put_number(context, count_calls(trace));
        break;
    case TRACE_DURATION:
        put_number(context, facts->duration);
        break;
    case TRACE_WALL_CLOCK:
        put_number_or_null(context, facts->wall_clock);
        break;
    case TRACE_DAMAGE:
        put_repaired_text(context, facts->damage);
        break;
    }
}

const struct trace_table trace_table = {
    .name = "trace",
    .summary = "One row: the trace as a whole.",
    .columns = trace_columns,
    .column_count = sizeof trace_columns / sizeof *trace_columns,
    .row_size = sizeof(struct index_facts),
    .make = make_trace,
    .put = put_trace,
};
