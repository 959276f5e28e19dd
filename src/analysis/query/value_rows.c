/* The table of arguments and results (trace_tables.h): a row for each that was recorded (-args). */
#include "analysis/query/trace_tables.h"

#include "index/valued_calls.h"

enum value_column {
    VALUE_CALL,
    VALUE_FUNCTION,
    VALUE_FUNCTION_ID,
    VALUE_THREAD_ID,
    VALUE_START,
    VALUE_DURATION,
    VALUE_POSITION,
    VALUE_NAME,
    VALUE_VALUE,
    VALUE_TEXT,
};

static const struct table_column columns[] = {
    [VALUE_CALL] = {"call", "INTEGER", "calls.id"},
    [VALUE_FUNCTION] = {"function", "TEXT", "name of the function that was called"},
    [VALUE_FUNCTION_ID] = {"function_id", "INTEGER", "functions.id"},
    [VALUE_THREAD_ID] = {"thread_id", "INTEGER", "threads.id"},
    [VALUE_START] = {"start", "INTEGER", "when the call began"},
    [VALUE_DURATION] = {"duration", "INTEGER", "how long it took"},
    [VALUE_POSITION] = {"position", "INTEGER", "1: the first argument; NULL: the result"},
    [VALUE_NAME] = {"name", "TEXT", "name of the parameter; result"},
    [VALUE_VALUE] = {"value", "",
                     "a number, where it is one; else a text: the characters of a string, the name "
                     "of an enumerator, a struct in braces"},
    [VALUE_TEXT] = {"text", "TEXT", "as in reports: strings in quotes, addresses as 0x..."},
};

static bool make_rows(const struct table_trace *trace, const struct rows_wanted *wanted,
                      struct array *rows, struct error *error)
{
    struct valued_call call;
    struct named_value value;
    (void)wanted;
    for (uint64_t i = 0; i < trace_index_facts(trace->index)->values; i++) {
        uint64_t number;
        if (!index_value(trace->index, i, &value, &number, error) ||
            !index_valued_call(trace->index, number, &call, error))
            return false;
        array_add_all(rows, &i, 1);
    }
    return true;
}

/* SQL has no unsigned numbers of 64 bits: beyond the signed ones are reals. */
static void put_value(sqlite3_context *context, const struct named_value *value)
{
    switch (value->kind) {
    case NAMED_SIGNED:
        sqlite3_result_int64(context, value->signed_number);
        break;
    case NAMED_UNSIGNED:
        if (value->unsigned_number > INT64_MAX)
            sqlite3_result_double(context, (double)value->unsigned_number);
        else
            put_number(context, value->unsigned_number);
        break;
    case NAMED_FLOAT:
        sqlite3_result_double(context, value->real);
        break;
    case NAMED_TEXT:
        put_repaired_text(context, value->string ? value->string : value->text);
        break;
    }
}

static void put_position(sqlite3_context *context, const struct valued_call *call, uint64_t value)
{
    uint64_t position = value - call->first_value + 1;
    if (position < call->value_count || !call->has_result)
        put_number(context, position);
}

static void put_column(const struct table_trace *trace, const struct array *rows, size_t number,
                       unsigned column, sqlite3_context *context)
{
    uint64_t at = *(uint64_t *)array_at(rows, number), of;
    struct valued_call call;
    struct named_value value;
    if (!index_value(trace->index, at, &value, &of, NULL) ||
        !index_valued_call(trace->index, of, &call, NULL))
        return;
    const struct index_span *span = &call.place.span;
    uint32_t group = trace_index_function(trace->index, span->function).group;
    switch ((enum value_column)column) {
    case VALUE_CALL:
        put_number(context, call_numbers_of(trace->numbers, call.place.track, call.number));
        break;
    case VALUE_FUNCTION:
        put_text(context, trace->functions[group]);
        break;
    case VALUE_FUNCTION_ID:
        put_number(context, group);
        break;
    case VALUE_THREAD_ID:
        put_number(context, call.place.track);
        break;
    case VALUE_START:
        put_number(context, span->start);
        break;
    case VALUE_DURATION:
        put_number(context, span->end - span->start);
        break;
    case VALUE_POSITION:
        put_position(context, &call, at);
        break;
    case VALUE_NAME:
        put_repaired_text(context, value.name);
        break;
    case VALUE_VALUE:
        put_value(context, &value);
        break;
    case VALUE_TEXT:
        put_repaired_text(context, value.text);
        break;
    }
}

const struct trace_table args_table = {
    .name = "args",
    .summary =
        "Each argument and each result that was recorded, of the functions that -args names.",
    .columns = columns,
    .column_count = sizeof columns / sizeof *columns,
    .row_size = sizeof(uint64_t),
    .make = make_rows,
    .put = put_column,
};
