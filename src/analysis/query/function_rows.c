/* The tables of functions and of stacks: sums over the calls of a range, made by the index on all
 * processors (trace_tables.h). */
#include "analysis/query/trace_tables.h"
#include "base/memory.h"
#include "index/flame_graph.h"
#include "index/function_quantiles.h"
#include "index/function_table.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mean_of(uint64_t sum, uint64_t count)
{
    return count ? sum / count : 0;
}

/* ---- functions ---- */

/* From the median on, the quantiles are in the order of enum function_quantile. */
enum function_column {
    FUNCTION_ID,
    FUNCTION_NAME,
    FUNCTION_CALLS,
    FUNCTION_TOTAL,
    FUNCTION_SELF,
    FUNCTION_ON_CPU,
    FUNCTION_WHOLE,
    FUNCTION_SUM,
    FUNCTION_MEAN,
    FUNCTION_MIN,
    FUNCTION_MEDIAN,
    FUNCTION_P90,
    FUNCTION_P95,
    FUNCTION_P99,
    FUNCTION_P999,
    FUNCTION_MAX,
    FUNCTION_SYMBOL,
    FUNCTION_FILE,
    FUNCTION_LINE,
    FUNCTION_ADDRESS,
    FUNCTION_CODE,
};

static const struct table_column function_columns[] = {
    [FUNCTION_ID] = {"id", "INTEGER", "number of the function"},
    [FUNCTION_NAME] = {"function", "TEXT", "its name; functions of the same name are one"},
    [FUNCTION_CALLS] = {"calls", "INTEGER", "number of its calls"},
    [FUNCTION_TOTAL] = {"total", "INTEGER",
                        "time in it and in what it called; recursive calls count once"},
    [FUNCTION_SELF] = {"self", "INTEGER", "time in itself"},
    [FUNCTION_ON_CPU] = {"on_cpu", "INTEGER",
                         "what of total its threads were running; NULL where that is not known"},
    [FUNCTION_WHOLE] = {"whole", "INTEGER",
                        "number of its calls whose beginning and end were seen; of these are:"},
    [FUNCTION_SUM] = {"sum", "INTEGER", "the sum of the durations"},
    [FUNCTION_MEAN] = {"mean", "INTEGER", "the mean duration, rounded down"},
    [FUNCTION_MIN] = {"min", "INTEGER", "the shortest duration"},
    [FUNCTION_MEDIAN] = {"median", "INTEGER", "the median, exact"},
    [FUNCTION_P90] = {"p90", "INTEGER", "the 90th percentile, exact"},
    [FUNCTION_P95] = {"p95", "INTEGER", "the 95th"},
    [FUNCTION_P99] = {"p99", "INTEGER", "the 99th"},
    [FUNCTION_P999] = {"p999", "INTEGER", "the 99.9th"},
    [FUNCTION_MAX] = {"max", "INTEGER", "the longest"},
    [FUNCTION_SYMBOL] = {"symbol", "TEXT", "as in the symbol table, where that is not the name"},
    [FUNCTION_FILE] = {"file", "TEXT", "source file"},
    [FUNCTION_LINE] = {"line", "INTEGER", "line of it on which the function begins"},
    [FUNCTION_ADDRESS] = {"address", "TEXT", "where the function begins in the process"},
    [FUNCTION_CODE] = {"code", "TEXT",
                       "own, library, kernel, inlined, special ([syscall] and the like)"},
    RANGE_COLUMNS,
    {"all_calls", "INTEGER HIDDEN",
     "1: sum to max are of all calls, also of those whose beginning or end was not seen"},
};

struct summed_function {
    struct function_row row;
    struct function_quantiles quantiles;
    bool all_calls;
};

static bool counts_cut_calls(const struct summed_function *summed)
{
    return summed->all_calls && summed->row.calls > summed->row.whole;
}

static uint64_t count_of(const struct summed_function *summed)
{
    return summed->all_calls ? summed->row.calls : summed->row.whole;
}

static uint64_t sum_of(const struct summed_function *summed)
{
    return summed->row.sum + (summed->all_calls ? summed->row.cut_sum : 0);
}

static uint64_t min_of(const struct summed_function *summed)
{
    const struct function_row *row = &summed->row;
    if (counts_cut_calls(summed) && (row->whole == 0 || row->cut_min < row->min))
        return row->cut_min;
    return row->min;
}

static uint64_t max_of(const struct summed_function *summed)
{
    const struct function_row *row = &summed->row;
    return counts_cut_calls(summed) && row->cut_max > row->max ? row->cut_max : row->max;
}

static bool add_quantiles(const struct table_trace *trace, const struct rows_wanted *wanted,
                          const struct array *sums, struct function_quantiles *quantiles,
                          struct error *error)
{
    struct quantiles_request request = {.all_calls = wanted->all_calls};
    for (unsigned i = 0; i < FUNCTION_QUANTILES; i++)
        if (rows_wanted_column(wanted, FUNCTION_MEDIAN + i))
            request.wanted |= 1U << i;
    return request.wanted == 0 ||
           index_function_quantiles(trace->index, wanted->tracks, wanted->range, request, sums,
                                    quantiles, error);
}

static bool make_functions(const struct table_trace *trace, const struct rows_wanted *wanted,
                           struct array *rows, struct error *error)
{
    struct array sums = array_of(sizeof(struct function_row));
    bool ok = index_function_table(trace->index, wanted->tracks, wanted->range, &sums, error);
    struct function_quantiles *quantiles =
        memory_allocate_zeroed((sums.count + 1) * sizeof *quantiles);
    ok = ok && add_quantiles(trace, wanted, &sums, quantiles, error);
    for (size_t i = 0; ok && i < sums.count; i++)
        *(struct summed_function *)array_add(rows) = (struct summed_function){
            .row = *(struct function_row *)array_at(&sums, i),
            .quantiles = quantiles[i],
            .all_calls = wanted->all_calls,
        };
    free(quantiles);
    array_free(&sums);
    return ok;
}

/* NULL when there are no calls to be counted. */
static void put_duration(const struct summed_function *summed, enum function_column column,
                         sqlite3_context *context)
{
    if (count_of(summed) == 0)
        return;
    switch (column) {
    case FUNCTION_SUM:
        put_number(context, sum_of(summed));
        break;
    case FUNCTION_MEAN:
        put_number(context, mean_of(sum_of(summed), count_of(summed)));
        break;
    case FUNCTION_MIN:
        put_number(context, min_of(summed));
        break;
    case FUNCTION_MAX:
        put_number(context, max_of(summed));
        break;
    default:
        put_number(context, summed->quantiles.values[column - FUNCTION_MEDIAN]);
        break;
    }
}

static void put_function(const struct table_trace *trace, const struct array *rows, size_t number,
                         unsigned column, sqlite3_context *context)
{
    const struct summed_function *summed = array_at(rows, number);
    const struct function_row *row = &summed->row;
    const struct index_function function = trace_index_function(trace->index, row->group);
    switch (column) {
    case FUNCTION_ID:
        put_number(context, row->group);
        break;
    case FUNCTION_NAME:
        put_text(context, trace->functions[row->group]);
        break;
    case FUNCTION_CALLS:
        put_number(context, row->calls);
        break;
    case FUNCTION_TOTAL:
        put_number(context, row->total);
        break;
    case FUNCTION_SELF:
        put_number(context, row->self);
        break;
    case FUNCTION_ON_CPU:
        if (off_cpu_times_known(trace->off_cpu))
            put_number(context, row->total - row->off_cpu);
        break;
    case FUNCTION_WHOLE:
        put_number(context, row->whole);
        break;
    default:
        if (column <= FUNCTION_MAX)
            put_duration(summed, column, context);
        else
            put_function_fact(context, &function,
                              (enum function_fact)(column - FUNCTION_SYMBOL + FACT_SYMBOL));
        break;
    }
}

const struct trace_table functions_table = {
    .name = "functions",
    .summary = "Each function that is called, with sums and quantiles over its calls.",
    .columns = function_columns,
    .column_count = sizeof function_columns / sizeof *function_columns,
    .parameters = TABLE_PARAMETERS,
    .row_size = sizeof(struct summed_function),
    .make = make_functions,
    .put = put_function,
};

/* ---- stacks ---- */

enum stack_column {
    STACK_ID,
    STACK_PARENT,
    STACK_FUNCTION,
    STACK_FUNCTION_ID,
    STACK_DEPTH,
    STACK_CALLS,
    STACK_TOTAL,
    STACK_SELF,
    STACK_PATH,
};

static const struct table_column stack_columns[] = {
    [STACK_ID] = {"id", "INTEGER", "number of the stack, from 1"},
    [STACK_PARENT] = {"parent", "INTEGER",
                      "id of the stack of its caller; NULL: it is an outermost one"},
    [STACK_FUNCTION] = {"function", "TEXT", "name of the innermost function"},
    [STACK_FUNCTION_ID] = {"function_id", "INTEGER", "functions.id"},
    [STACK_DEPTH] = {"depth", "INTEGER", "number of callers"},
    [STACK_CALLS] = {"calls", "INTEGER", "number of the function's calls with these callers"},
    [STACK_TOTAL] = {"total", "INTEGER", "time in them and in what they called"},
    [STACK_SELF] = {"self", "INTEGER", "time in themselves"},
    [STACK_PATH] = {"path", "TEXT", "the functions from the outermost on, with ; between"},
    RANGE_COLUMNS,
};

struct stack_row {
    struct flame_node node;
    uint32_t depth;
};

/* The root of the flame graph is no stack. Parents come before their children. */
static bool make_stacks(const struct table_trace *trace, const struct rows_wanted *wanted,
                        struct array *rows, struct error *error)
{
    struct array nodes = array_of(sizeof(struct flame_node));
    const struct flame_request request = {.tracks = wanted->tracks, .range = wanted->range};
    bool ok = index_flame_graph(trace->index, &request, &nodes, error);
    for (size_t i = 1; ok && i < nodes.count; i++) {
        const struct flame_node *node = array_at(&nodes, i);
        struct stack_row *row = array_add(rows);
        row->node = *node;
        if (node->parent > 0)
            row->depth = ((struct stack_row *)array_at(rows, node->parent - 1))->depth + 1;
    }
    array_free(&nodes);
    return ok;
}

static void put_path(const struct table_trace *trace, const struct array *rows, size_t number,
                     sqlite3_context *context)
{
    uint32_t depth = ((const struct stack_row *)array_at(rows, number))->depth;
    const char **names = memory_allocate((depth + 1) * sizeof *names);
    for (uint32_t i = depth + 1; i-- > 0;) {
        const struct stack_row *row = array_at(rows, number);
        names[i] = trace->functions[row->node.group];
        number = row->node.parent - 1;
    }
    sqlite3_str *path = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (uint32_t i = 0; i <= depth; i++)
        sqlite3_str_appendf(path, "%s%s", i ? ";" : "", names[i]);
    free(names);
    int status = sqlite3_str_errcode(path), length = sqlite3_str_length(path);
    char *text = sqlite3_str_finish(path);
    if (status == SQLITE_OK)
        sqlite3_result_text(context, text, length, sqlite3_free);
    else
        sqlite3_result_error_code(context, status);
}

static void put_stack(const struct table_trace *trace, const struct array *rows, size_t number,
                      unsigned column, sqlite3_context *context)
{
    const struct stack_row *row = array_at(rows, number);
    switch ((enum stack_column)column) {
    case STACK_ID:
        put_number(context, number + 1);
        break;
    case STACK_PARENT:
        put_number_or_null(context, row->node.parent);
        break;
    case STACK_FUNCTION:
        put_text(context, trace->functions[row->node.group]);
        break;
    case STACK_FUNCTION_ID:
        put_number(context, row->node.group);
        break;
    case STACK_DEPTH:
        put_number(context, row->depth);
        break;
    case STACK_CALLS:
        put_number(context, row->node.calls);
        break;
    case STACK_TOTAL:
        put_number(context, row->node.total);
        break;
    case STACK_SELF:
        put_number(context, row->node.self);
        break;
    case STACK_PATH:
        put_path(trace, rows, number, context);
        break;
    }
}

const struct trace_table stacks_table = {
    .name = "stacks",
    .summary = "Each call stack that occurs, with sums over the calls that had it: a flame graph.",
    .columns = stack_columns,
    .column_count = sizeof stack_columns / sizeof *stack_columns,
    .parameters = RANGE_PARAMETERS,
    .row_size = sizeof(struct stack_row),
    .make = make_stacks,
    .put = put_stack,
};
